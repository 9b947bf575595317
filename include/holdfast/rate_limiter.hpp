/// \file
/// Limits how many operations per second all processes together may start.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/detail/export.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// How fast permits come back, and how many there are when nobody has taken one for long.
struct rate_limit {
  /// Permits in a second, above 0 and at most a million. 0.1: one in ten seconds.
  double rate = 1;
  std::uint32_t burst = 1;  ///< 1 to a million, and `burst / rate` at most 30 days.
};

/// Whether permits were taken. Thread safety: a value type.
struct rate_verdict {
  bool taken = false;                ///< False: not enough of them were there.
  std::chrono::microseconds wait{};  ///< When not: how long it would take until they are there.
  /// Whether they were taken.
  explicit operator bool() const noexcept { return taken; }
};

/// A token bucket on the server, on the server's clock. In any time t no more than `burst + rate t`
/// permits are given out, to all processes together. (t in microseconds, rounded up. How long one
/// permit takes to come back is rounded up to a nanosecond: 900,000 a second are 899,280.) Permits
/// are not given back after use.
///
/// A call that waits takes its permits at once, and is told from when on it may use them. So nobody
/// polls, and the order is that of asking. All processes that share a name should use the same rate
/// and burst; each call is judged by its own. If the server's clock steps forward, permits come
/// back the earlier.
///
/// Cost: one command for each call, however long it waits. When a waiting call is called off, one
/// more command gives the permits back. If another call has asked after it and was told from when
/// on it may use its permits, they are not given back: they only come back with time. A limiter
/// that has rested for `burst / rate` has no key. Each call leaves a key of about 100 bytes for 7
/// s, as in `counter`.
///
/// When the answer is lost: permits are taken once, as in `counter`. If a call fails with
/// `unavailable`, they may have been taken, and are not given back.
///
/// Errors, all as `failure`: `invalid_argument`, `foreign_key` when the key `hf:rate:{NAME}` holds
/// something else, and those of the server.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads. All calls
/// block.
class HOLDFAST_EXPORT rate_limiter {
 public:
  [[nodiscard]] const std::string& name() const noexcept;  ///< The name with which it was made.

  /// Takes `n` permits (1 to `burst`) if they are there now.
  [[nodiscard]] rate_verdict try_acquire(std::uint32_t n = 1) const;

  /// Takes `n` permits and waits until they may be used: as long as the server says, and not
  /// longer.
  ///
  /// If that would be longer than the timeout (unset: the client's `default_timeout`), it throws
  /// `timed_out` at once, and takes nothing. It throws `cancelled` when it is stopped while
  /// waiting.
  ///
  /// The timeout and the stop token also end the wait for the server's answer. Permits may have
  /// been taken then: the message says when that is so, and they come back with time. After a
  /// timeout the server takes none. After a stop it may take them until the timeout would have
  /// ended, or the bound of `try_acquire` if that is less. Giving permits back takes at most
  /// `response_timeout`.
  void acquire(std::uint32_t n = 1, const acquire_options& options = {},
               const std::stop_token& stop = {}) const;

 private:
  friend class client;
  class state;
  explicit rate_limiter(std::shared_ptr<const state> one) noexcept : state_(std::move(one)) {}

  std::shared_ptr<const state> state_;
};

}  // namespace holdfast
