/// \file
/// A lock with the six modes of the classic lock managers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/detail/export.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// How a `mode_lock` is held, and who may hold it at the same time. Two holders go together where
/// the table says `yes`:
///
/// |    | NL  | CR  | CW  | PR  | PW  | EX  |
/// | -- | --- | --- | --- | --- | --- | --- |
/// | NL | yes | yes | yes | yes | yes | yes |
/// | CR | yes | yes | yes | yes | yes | -   |
/// | CW | yes | yes | yes | -   | -   | -   |
/// | PR | yes | yes | -   | yes | -   | -   |
/// | PW | yes | yes | -   | -   | -   | -   |
/// | EX | yes | -   | -   | -   | -   | -   |
enum class lock_mode : char {
  null = 'n',              ///< NL: interest only
  concurrent_read = 'c',   ///< CR: reads, others may write
  concurrent_write = 'd',  ///< CW: writes, others may write
  protected_read = 'r',    ///< PR: reads, nobody writes
  protected_write = 'p',   ///< PW: writes, others only read unprotected
  exclusive = 'x',         ///< EX: alone
};

/// How a mode lock behaves: each option as in `mutex_options`. Every grant has a token.
/// `reentry` is about holders in EX.
struct mode_lock_options {
  std::optional<std::chrono::milliseconds> lease{};  ///< 10 ms to 24 h. Unset: the client's.
  holdfast::renewal renewal = holdfast::renewal::automatic;  ///< Whether the lease is renewed.
  bool fair = false;                                         ///< Strict order of arrival.
  std::uint32_t queue_limit = 100'000;                       ///< How many may wait at the server.
  std::chrono::milliseconds lock_delay{0};                   ///< After a loss: zero to 1 h.
  holdfast::reentry reentry = holdfast::reentry::refused;    ///< Of a thread that holds it.
};

/// A lock that is held in a mode, and whose mode can be changed while it is held. Made by
/// `client::mode_lock()`. A `read_write_lock` of the same name is the same lock: its readers hold
/// PR, its writer EX.
///
/// Waiters get the lock in the order of arrival. NL goes together with everything, and is granted
/// at once. A holder that changes its mode goes before clients that hold nothing yet. Tokens,
/// leases and cost are as in `read_write_lock`.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class HOLDFAST_EXPORT mode_lock {
 public:
  /// The lock, to be held in this mode.
  [[nodiscard]] lock in(lock_mode mode) const;

  /// Another lock. When it is acquired, its holder has the mode `to` in the place of `held`.
  ///
  /// `held` stays held until then, in what both modes have in common (`lease::mode()`): the server
  /// may have carried out the change though no answer came. When the change fails, `held` becomes
  /// what it was. That is not possible if others have come in that do not go together with the old
  /// mode. Then `held` is lost.
  ///
  /// Errors besides those of every lock:
  ///
  /// - `lost` when `held` had ended.
  /// - `would_deadlock` when this holder wants more than it has, and another holder already waits
  ///   to change its mode until this one gives up what it has. Changes are made in order, so
  ///   neither could go on.
  /// - `queue_full` when 100 changes wait already.
  ///
  /// Throws `failure{invalid_argument}` when `held` is not a lease of this lock.
  [[nodiscard]] lock change(const lease& held, lock_mode to) const;

  /// The lock's value block: up to 64 bytes that a writer has left for later holders, such as the
  /// version of what the lock protects. Empty when there is none. As long as `held` is not NL,
  /// nobody but its holder writes it. Cost: one command.
  /// Throws `failure{lost}` when `held` has ended, `failure{invalid_argument}` when it is not a
  /// lease of this lock, and what every command may meet.
  [[nodiscard]] std::string value(const lease& held) const;

  /// Writes the value block while `held` is PW or EX. Writing nothing at all removes it. Until then
  /// it outlives the lock's holders.
  ///
  /// Each write happens once, and never by a holder whose lease has ended, whatever the network
  /// does. So the last value that a holder writes before its release is what the next holder will
  /// see. Cost: one command.
  ///
  /// Throws as `value` does, and `failure{invalid_argument}` when `held` is in another mode, also
  /// while a change of it is not answered (`lease::mode()`), and for more than 64 bytes.
  void set_value(const lease& held, std::string_view bytes) const;

 private:
  friend class client;
  explicit mode_lock(lock null) : null_(std::move(null)) {}

  lock null_;
};

}  // namespace holdfast
