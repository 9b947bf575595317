#include "lease/acquire_waiting.hpp"

#include <algorithm>

#include "lease/waiting_times.hpp"

namespace holdfast::leasing {
namespace {

constexpr milliseconds ask_jitter{10};

}  // namespace

bool can_pass(errc code) noexcept {
  switch (code) {
    case errc::authentication:
    case errc::permission_denied:
    case errc::not_redis:
    case errc::untrusted_server:
    case errc::invalid_argument:
    case errc::invalid_url:
    case errc::unsupported:
    case errc::forked:
    case errc::would_deadlock:
    case errc::embedded_server:
    case errc::has_run:
      return false;
    default:
      return true;
  }
}

void acquire_waiting::remember(answer last, std::string_view detail) {
  // An unreachable server and a busy lock have pauses of different length.
  if ((last == answer::unreachable) != (last_ == answer::unreachable)) retries_.reset();
  last_ = last;
  last_detail_ = detail.empty() ? nullptr : std::make_unique<const std::string>(detail);
}

outcome acquire_waiting::out_of_patience() const {
  const std::string detail = last_detail_ ? *last_detail_ : std::string{};
  switch (last_) {
    case answer::none:
      return {errc::timed_out, "the server has not answered yet"};
    case answer::busy:
      return {errc::timed_out, "somebody else still held the lock when last asked"};
    case answer::refusal:
      return {errc::timed_out, "the server's last answer was: " + detail};
    case answer::unreachable:
      return {errc::unavailable, detail};
  }
  return {};
}

nanoseconds acquire_waiting::pause(const substrate::busy& held) noexcept {
  const nanoseconds longest = tuned_in_ ? ask_bound(0) : pause();
  if (!held.remaining) return longest;
  const nanoseconds until_expiry = std::max(*held.remaining, milliseconds(0));
  return std::min(longest, until_expiry + retries_.up_to(while_busy_.first));
}

nanoseconds acquire_waiting::pause(const substrate::queued& where,
                                   substrate::wakeup_way way) noexcept {
  if (way == substrate::wakeup_way::poll) return std::min<nanoseconds>(pause(), until_turn(where));
  return until_turn(where) + retries_.up_to(ask_jitter);
}

monotonic_time acquire_waiting::asks_at(const queue_message& is_first) noexcept {
  const auto bound = std::min(is_first.grant.ttl, ask_bound(0));
  return std::min(asks_at_, is_first.heard_at + bound + retries_.up_to(ask_jitter));
}

}  // namespace holdfast::leasing
