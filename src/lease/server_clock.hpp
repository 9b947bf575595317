// The best estimate of the server's time. A value: threads that share it must guard it.
#pragma once

#include <optional>

#include "base/time.hpp"

namespace holdfast::leasing {

// Stands for "not known": late enough that no lock is refused for it (what counts once is,
// dialects/parts/once.lua), and a whole number that survives in Lua, which computes with doubles
// (2^53 microseconds: the year 2255).
inline constexpr server_time far_future{microseconds(std::int64_t{1} << 53)};

// Until when the server may execute a request: a copy that arrives later is refused there. With
// `now.server` unknown it stays in the far future.
constexpr server_time not_after(const moment& now, milliseconds response_timeout) noexcept {
  return now.server < far_future ? now.server + response_timeout : far_future;
}

// The server said its time in answer to a request; meanwhile that answer travelled. So the
// estimate is behind the server by up to one round trip, and falls back by a hundredth of the time
// since: clocks may differ so much in speed (docs/guarantees.md). After some minutes without a
// sample a request may be refused as late; the refusal tells the time, and it is asked again.
class server_clock {
 public:
  // `said` is the server's answer to a request. A sample that was sent later replaces the earlier
  // one, whatever it says: server clocks may step.
  void sample(monotonic_time sent_at, monotonic_time received_at, server_time said) noexcept;

  bool known() const noexcept { return said_ != far_future; }

  // Never ahead of the server, unless its clock stepped back since. Far future when not known.
  server_time estimate(monotonic_time now) const noexcept;

  // When it was `then` at the server, on our clock: certainly not later than the answer, unless the
  // server's clock stepped forward since the last sample. Nothing when the clock is not known.
  std::optional<monotonic_time> earliest(server_time then) const noexcept;

 private:
  monotonic_time sent_at_ = monotonic_time::min();
  monotonic_time received_at_{};
  server_time said_ = far_future;
};

}  // namespace holdfast::leasing
