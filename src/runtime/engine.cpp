#include "runtime/engine.hpp"

#include <sys/random.h>

#include <cerrno>
#include <utility>

#include "base/lock_key.hpp"
#include "dialects/holdfast/waiting.hpp"
#include "net/clock.hpp"
#include "net/descriptor.hpp"

namespace holdfast::runtime {
namespace {

constexpr std::size_t hash_slots = 16384;

template <typename Bits>
Bits random_bits() {
  Bits bits{};
  if (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return bits;
}

redis::connection_tuning with_options(redis::connection_tuning tuning,
                                      const client_options& options) {
  tuning.spin = options.spin;
  return tuning;
}

redis::session_settings with_channel(redis::session_settings session, const client_id& id,
                                     const client_options& options) {
  if (options.wakeup == wakeup::notification) session.channel = dialects::channel_of(id);
  return session;
}

}  // namespace

engine::engine(const redis::session_settings& session, const client_options& options,
               redis::connection_tuning tuning)
    : options_(options),
      generation_(net::process_generation()),
      id_(random_bits<std::array<std::uint8_t, 16>>()),
      seed_(random_bits<std::uint64_t>()),
      floors_(std::make_unique<std::atomic<dialects::token_major>[]>(hash_slots)),
      connection_(with_channel(session, id_, options), with_options(tuning, options), helper_,
                  *this),
      timers_(helper_),
      renewals_(*this),
      registration_(*this, id_),
      waiting_(*this, id_),
      observed_(*this),
      hears_(options.wakeup == wakeup::notification) {
  helper_.start({&connection_, &timers_, &renewals_});
}

engine::~engine() = default;

// First the attempts and releases under way may end; what is left then ends by itself at the
// server, with its lease.
void engine::shut_down() noexcept {
  sites_.revoke_all();
  wait_until_quiet();
  registration_.withdraw();
  helper_.stop();
  connection_.shut_down();
  timers_.shut_down();
  callbacks_.stop();
}

bool engine::is_own_thread() const noexcept {
  return helper_.is_this_thread() || callbacks_.is_this_thread();
}

bool engine::is_in_its_process() const noexcept { return generation_ == net::process_generation(); }

request_id engine::next_request(bool revocable) noexcept {
  return {id_, requests_.fetch_add(1, std::memory_order_relaxed) + 1, revocable};
}

std::uint64_t engine::next_seed() noexcept { return seed_.fetch_add(1, std::memory_order_relaxed); }

server_time engine::estimate(monotonic_time at) const {
  const std::lock_guard lock(clock_guard_);
  return clock_.estimate(at);
}

nanoseconds engine::clock_distance() const {
  return estimate(net::now()).time_since_epoch() - net::wall_time();
}

void engine::learn_time(monotonic_time sent_at, monotonic_time received_at, server_time said) {
  const std::lock_guard lock(clock_guard_);
  clock_.sample(sent_at, received_at, said);
}

dialects::token_major engine::floor(std::uint16_t slot) const noexcept {
  return floors_[slot].load(std::memory_order_relaxed);
}

void engine::raise_floor(std::uint16_t slot, dialects::token_major seen) noexcept {
  auto known = floors_[slot].load(std::memory_order_relaxed);
  while (known < seen && !floors_[slot].compare_exchange_weak(known, seen)) {
  }
}

void engine::ended() noexcept {
  if (under_way_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::lock_guard lock(quiet_guard_);
  quiet_.notify_all();
}

void engine::wait_until_quiet() noexcept {
  std::unique_lock lock(quiet_guard_);
  quiet_.wait_for(lock, options_.response_timeout,
                  [this] { return under_way_.load(std::memory_order_acquire) == 0; });
}

std::optional<monotonic_time> engine::earliest(server_time then) const {
  const std::lock_guard lock(clock_guard_);
  return clock_.earliest(then);
}

void engine::on_connected(const redis::session_facts& facts) {
  hears_.store(facts.subscribed, std::memory_order_relaxed);
  learn_time(facts.asked_at, facts.answered_at, facts.time);
}

void engine::on_push(resp::value& message, std::uint64_t position) {
  waiting_.on_push(message, position);
  observed_.on_push(message);
}

void engine::on_broken() {
  waiting_.on_broken();
  observed_.on_broken();
}

}  // namespace holdfast::runtime
