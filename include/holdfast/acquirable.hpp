/// \file
/// The four verbs, for kinds that are more than a lock.
#pragma once

#include <stop_token>
#include <string>
#include <utility>

#include <holdfast/detail/export.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>
#include <holdfast/result.hpp>

namespace holdfast {

/// What `semaphore`, `election` and `recursive_mutex` have in common: each is acquired as a `lock`
/// is, and converts to the lock that it acquires. So it goes wherever a lock does: `all_of`,
/// `lockable`, `run_while_held`.
///
/// Thread safety: of each kind as of every `lock`.
class HOLDFAST_EXPORT acquirable {
 public:
  /// As `lock::acquire`.
  [[nodiscard]] lease acquire(const acquire_options& options = {},
                              std::stop_token stop = {}) const {
    return lock_.acquire(options, std::move(stop));
  }

  /// As `lock::try_acquire`.
  [[nodiscard]] result<lease> try_acquire(const acquire_options& options = {},
                                          std::stop_token stop = {}) const {
    return lock_.try_acquire(options, std::move(stop));
  }

  /// As `lock::async_acquire`.
  detail::acquire_awaitable<lease> async_acquire(acquire_options options = {},
                                                 std::stop_token stop = {}) const {
    return lock_.async_acquire(options, std::move(stop));
  }

  /// As `lock::async_try_acquire`.
  detail::acquire_awaitable<result<lease>> async_try_acquire(acquire_options options = {},
                                                             std::stop_token stop = {}) const {
    return lock_.async_try_acquire(options, std::move(stop));
  }

  /// The name with which it was made.
  [[nodiscard]] const std::string& name() const noexcept { return lock_.name(); }

  /// The lock that the verbs acquire.
  operator lock() const noexcept { return lock_; }

 protected:
  explicit acquirable(lock one) noexcept : lock_(std::move(one)) {}
  acquirable(const acquirable&) = default;
  acquirable(acquirable&&) noexcept = default;
  acquirable& operator=(const acquirable&) = default;
  acquirable& operator=(acquirable&&) noexcept = default;
  ~acquirable() = default;

  [[nodiscard]] const lock& inner() const noexcept { return lock_; }

 private:
  lock lock_;
};

}  // namespace holdfast
