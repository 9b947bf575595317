// Until when a lease certainly lasts: the one rule on which "held" rests (S3 in the guarantees).
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/time.hpp"
#include "lease/clock_rate.hpp"

namespace holdfast::leasing {

// Clocks may run at different speeds and the server's counts in milliseconds. So a time that must
// agree on both machines over `span` gets this much room. In a constant it is the usual room.
constexpr nanoseconds clock_allowance(milliseconds span) noexcept {
  std::int64_t millionths = usual_rate_allowance;
  if (!std::is_constant_evaluated()) millionths = rate_allowance().load(std::memory_order_relaxed);
  return nanoseconds(span.count() * millionths) + milliseconds(2);
}

// The deadline of a lease that was `ttl` long when a request sent at `sent_at` was answered.
// Counted from the sending: the server's count began later than that.
constexpr monotonic_time lease_deadline(monotonic_time sent_at, milliseconds ttl) noexcept {
  return sent_at + ttl - clock_allowance(ttl);
}

// As above, where a server says how much is left. It is believed up to `asked`, the longest that
// this client has asked for and that may be in force. For a server whose clock was set back says
// more, and takes it back as soon as its clock is right again.
constexpr monotonic_time lease_deadline(monotonic_time sent_at, milliseconds said,
                                        milliseconds asked) noexcept {
  return lease_deadline(sent_at, std::min(said, asked));
}

// The time that a server must say for `left` to be counted on: the inverse of the first rule.
inline milliseconds lease_with_deadline_in(nanoseconds left) noexcept {
  constexpr std::int64_t million = 1'000'000;
  const auto kept = million - rate_allowance().load(std::memory_order_relaxed);
  const auto whole = std::chrono::ceil<milliseconds>(left).count() + 2;
  return milliseconds{(whole * million + kept - 1) / kept};
}

// From when on no server executes a request that was sent by `now`.
constexpr monotonic_time too_late_from(monotonic_time now, milliseconds response_timeout) noexcept {
  return now + response_timeout + clock_allowance(response_timeout);
}

}  // namespace holdfast::leasing
