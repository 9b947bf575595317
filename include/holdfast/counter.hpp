/// \file
/// A number that many processes change.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/detail/export.hpp>

namespace holdfast {

/// What became of a change that has a condition.
struct counter_change {
  bool changed = false;    ///< False: the condition did not hold, and nothing was changed.
  std::int64_t value = 0;  ///< What the counter is now.
  /// Whether it was changed.
  explicit operator bool() const noexcept { return changed; }
};

/// A 64-bit number on the server that any number of processes change. It begins at zero.
///
/// Each change counts exactly once, however often its answer is lost. It is asked again under the
/// same request id, whose answer the server remembers until no copy can be executed any more.
///
/// Cost: one command for each call: EVALSHA, and GET for `get`. A change also costs a key of about
/// 100 bytes, which lives as long as the call may take and a second more (7 s by default).
///
/// When the answer is lost: a call asks again for `connect_timeout` and twice `response_timeout` (6
/// s by default). Then it throws `failure{errc::unavailable}`, which says whether the change may
/// have been made. The change is certainly not made later.
///
/// Errors, all as `failure`: `foreign_key` when the key holds no number, `unavailable`,
/// `out_of_memory`, `read_only`, `permission_denied` and others of the server; `forked`. A refused
/// call has changed nothing.
///
/// The key `hf:counter:{NAME}` stays until the counter is zero. The counter is as durable as the
/// server's data: a failover may lose the last changes, FLUSHALL loses all.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads. All calls
/// block.
class HOLDFAST_EXPORT counter {
 public:
  [[nodiscard]] const std::string& name() const noexcept;  ///< The name with which it was made.

  [[nodiscard]] std::int64_t get() const;  ///< What the counter is now. Changes nothing.

  /// Adds `n`, which may be negative; returns the sum.
  /// Throws `invalid_argument` when the sum would have more than 64 bits.
  std::int64_t add(std::int64_t n = 1) const;

  /// Takes `n` away if at least `not_below` is left.
  /// Throws `invalid_argument` when n < 0.
  [[nodiscard]] counter_change subtract(std::int64_t n, std::int64_t not_below = 0) const;

  /// Sets `desired` if the counter is `expected`.
  [[nodiscard]] counter_change compare_and_set(std::int64_t expected, std::int64_t desired) const;

  /// Sets the counter. Zero removes the key.
  void set(std::int64_t value) const;

  /// Computes the new value on the server, as one step. Returns what the counter is then.
  ///
  /// `script` is the body of a Lua function of `value` (a number) and `ARGV` (the texts of `args`).
  /// It returns the new value, or nil to leave the counter as it is. It must not write by itself.
  /// The server keeps the script, so pass what varies in `args`.
  ///
  /// Throws `server_error`, and changes nothing, when the script fails, and when the old value or
  /// the new one is no whole number between -2^53 and 2^53, both excluded: Lua would round it.
  ///
  ///     tickets.update("return math.min(value + ARGV[1], tonumber(ARGV[2]))", {"3", "100"});
  std::int64_t update(std::string_view script, const std::vector<std::string>& args = {}) const;

 private:
  friend class client;
  struct state;
  explicit counter(std::shared_ptr<const state> one) noexcept : state_(std::move(one)) {}

  std::shared_ptr<const state> state_;
};

}  // namespace holdfast
