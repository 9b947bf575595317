/// \file
/// An acquisition that a coroutine awaits. Not for users.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

#include <holdfast/detail/awaitable.hpp>
#include <holdfast/detail/completion.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/options.hpp>
#include <holdfast/result.hpp>

namespace holdfast {

namespace runtime {
class acquisition;
class client_core;
class executor;
class lock_source;
}  // namespace runtime

class lock;

namespace detail {

/// One running acquisition.
///
/// `start()` begins it. The completion runs once; from then on `finish()` may be called. If the
/// operation is destroyed before that, the completion does not run, and a lock that is granted
/// after all is given back.
///
/// Thread safety: used by one thread at a time. The caller must not destroy it while the completion
/// runs on another thread: cancel it through the stop token instead.
class HOLDFAST_EXPORT acquire_operation {
 public:
  /// What an unset timeout means: the client's default, as in `acquire`, or to ask once.
  enum class patience { waits, asks_once };

  acquire_operation(const lock& target, acquire_options options, std::stop_token stop,
                    patience when_unset);
  ~acquire_operation();
  acquire_operation(acquire_operation&&) noexcept;
  acquire_operation& operator=(acquire_operation&&) = delete;

  void start(completion& when_done);
  [[nodiscard]] result<lease> finish();

 private:
  std::shared_ptr<runtime::client_core> core_;
  std::shared_ptr<runtime::lock_source> source_;
  acquire_options options_;
  std::stop_token stop_;
  patience when_unset_;
  std::unique_ptr<runtime::acquisition> running_;
  completion* when_done_ = nullptr;
  runtime::executor* executor_ = nullptr;  // where that runs; null: the client's callback thread
};

template <typename Result>
using acquire_awaitable = awaitable<acquire_operation, Result>;

template <>
HOLDFAST_EXPORT lease outcome_as<lease>(result<lease> got);

// At a latch nothing is got, and at a barrier the generation.
template <>
HOLDFAST_EXPORT void outcome_as<void>(result<lease> got);
template <>
HOLDFAST_EXPORT result<void> outcome_as<result<void>>(result<lease> got);
template <>
HOLDFAST_EXPORT std::uint64_t outcome_as<std::uint64_t>(result<lease> got);
template <>
HOLDFAST_EXPORT result<std::uint64_t> outcome_as<result<std::uint64_t>>(result<lease> got);

}  // namespace detail
}  // namespace holdfast
