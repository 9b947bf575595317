#include "redis/connection/locator.hpp"

#include <poll.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/printable.hpp"
#include "net/clock.hpp"
#include "redis/connection/exchange.hpp"

namespace holdfast::redis {
namespace {

constexpr milliseconds first_pause{10};
constexpr milliseconds longest_pause{100};

// Nor will the sentinels come to know the service, or TLS come into this build.
bool is_final(const breakdown& why) noexcept {
  return why.is_permanent() || why.code == errc::invalid_url || why.code == errc::unsupported;
}

}  // namespace

locator::locator(const session_settings& settings, master_watch::listener moved)
    : settings_(settings), moved_(std::move(moved)) {
  if (settings_.sentinels) circle_.emplace(*settings_.sentinels, newest_);
}

std::optional<breakdown> locator::open(link& into, session_facts& facts) {
  if (!circle_) {
    const auto deadline = net::now() + settings_.connect_timeout;
    auto found_none = open_session(settings_, &interrupt_, into, facts);
    if (found_none) look_for_tls(*found_none, deadline, net::tls_peer::server);
    return found_none;
  }
  auto broken = find_and_open(into, facts);
  if (!broken && !watch_ && !cancelled_) start_watching(facts.address);
  return broken;
}

// A TLS port hangs up at what is not TLS, and will go on doing so, whereas a server that starts or
// a proxy without one behind it will let us in. Looked for once, so that nobody is asked twice each
// time; and not for long, since a server without TLS says nothing to its greeting.
void locator::look_for_tls(breakdown& why, monotonic_time deadline, net::tls_peer peer) {
  if (!why.may_speak_tls || cancelled_) return;
  deadline = std::min(deadline, net::now() + settings_.connect_timeout / 4);
  const net::connect_limits limits{deadline, settings_.response_timeout, &interrupt_};
  if (!std::exchange(looked_for_tls_, true) && speaks_tls(*why.may_speak_tls, limits)) {
    tls_at_ = why.may_speak_tls;
  }
  const auto there = net::to_string(*why.may_speak_tls);
  if (!tls_at_ || net::to_string(*tls_at_) != there) return;
  why.code = errc::not_redis;
  why.detail = there + " speaks TLS: " + net::advice_to_speak_tls(peer);
}

void locator::start_watching(const std::string& master) {
  try {
    watch_ = std::make_unique<master_watch>(circle_->group(), newest_, settings_.response_timeout,
                                            master, moved_);
  } catch (const std::system_error&) {
    // No descriptor or thread is left: without it we only hear of a failover later.
  }
}

std::optional<breakdown> locator::find_and_open(link& into, session_facts& facts) {
  const auto deadline = net::now() + settings_.connect_timeout;
  rearm();
  circle_->begin_search();
  // An old master may accept and not answer. A new one that is only slow gets its time later.
  auto patience = std::max(milliseconds{1}, settings_.connect_timeout / 4);
  std::optional<breakdown> heard;
  std::string refused_at;  // for good, by the last master that was named
  for (auto wait = first_pause;; wait = std::min(2 * wait, longest_pause)) {
    net::endpoint master;
    const net::connect_limits limits{deadline, settings_.response_timeout, &interrupt_};
    auto broken = circle_->find_master(limits, master);
    const bool found = !broken;
    if (found) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - net::now());
      broken = open_master(master, std::clamp(left, milliseconds{1}, patience), into, facts);
      newest_.led_to_a_master(!broken);
      patience = std::min(2 * patience, settings_.connect_timeout);
    }
    if (!broken) return broken;
    look_for_tls(*broken, deadline, found ? net::tls_peer::server : circle_->group().peer);
    // One sentinel may be behind the times, and somebody else at the old address.
    auto at = found && is_final(*broken) ? net::to_string(master) : std::string{};
    if (is_final(*broken) && at == refused_at) return broken;
    refused_at = std::move(at);
    // A master that was named tells more than that no sentinel answered in the moment left.
    if (found || !heard) heard = std::move(broken);
    if (!pause(wait, deadline)) return heard;
  }
}

std::optional<breakdown> locator::open_master(const net::endpoint& where, milliseconds patience,
                                              link& into, session_facts& facts) {
  auto there = settings_;
  there.where = where;
  there.connect_timeout = patience;
  facts = {};
  auto broken = open_session(there, &interrupt_, into, facts);
  if (!broken && facts.is_replica()) {
    into.close();
    broken = {errc::unavailable, "it is a replica: a failover is under way, or was undone"};
  }
  if (!broken) return std::nullopt;
  broken->detail = "the master of \"" + printable(settings_.sentinels->service) + "\", which is " +
                   net::to_string(where) + " as the sentinels say: " + broken->detail;
  broken->reached = true;  // the sentinels were: waiting may help
  return broken;
}

// After an attempt that failed. False when there is no time for another.
bool locator::pause(milliseconds how_long, monotonic_time deadline) {
  const auto until = net::now() + how_long;
  const bool in_time = until < deadline;
  const bool interrupted = in_time && net::wait_ready(interrupt_.fd(), POLLIN, {until, {}, {}});
  // The news that the master is elsewhere is mostly that of the sentinel that was asked.
  if (!interrupted) circle_->doubt_the_first();
  rearm();
  return in_time && !cancelled_;
}

// Lets open() work again after an interruption, but not after cancel().
void locator::rearm() noexcept {
  interrupt_.clear();
  if (cancelled_) interrupt_.signal();
}

void locator::ask_again() noexcept {
  if (circle_) interrupt_.signal();
}

void locator::cancel() noexcept {
  cancelled_ = true;
  interrupt_.signal();
}

}  // namespace holdfast::redis
