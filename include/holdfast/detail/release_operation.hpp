/// \file
/// A release that a coroutine awaits. Not for users.
#pragma once

#include <memory>

#include <holdfast/detail/awaitable.hpp>
#include <holdfast/detail/completion.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/result.hpp>

namespace holdfast {

namespace runtime {
class client_core;
class holding;
}  // namespace runtime

class lease;

namespace detail {

/// One release. From `start()` until the completion has run it must not be destroyed, which takes
/// at most about `response_timeout`. Thread safety: used by one thread at a time.
class HOLDFAST_EXPORT release_operation {
 public:
  explicit release_operation(lease& held) noexcept : lease_(&held) {}

  /// Takes from the lease what it holds. False: it has finished already, and the completion does
  /// not run.
  bool start(completion& when_done);
  [[nodiscard]] result<void> finish();

 private:
  lease* lease_;
  std::shared_ptr<runtime::client_core> core_;
  std::shared_ptr<runtime::holding> holding_;  // null: no answer is needed
};

using release_awaitable = awaitable<release_operation, result<void>>;

}  // namespace detail
}  // namespace holdfast
