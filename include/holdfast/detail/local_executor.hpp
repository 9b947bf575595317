/// \file
/// The thread inside `sync_wait`. Not for users.
#pragma once

#include <memory>

#include <holdfast/detail/completion.hpp>
#include <holdfast/detail/export.hpp>

namespace holdfast::runtime {
class executor;
}  // namespace holdfast::runtime

namespace holdfast::detail {

/// Makes the calling thread run the completions of what it starts, and their I/O in between.
/// Executors of one thread nest. Thread safety: `post` from any thread; the rest belongs to the
/// thread that made it.
class HOLDFAST_EXPORT local_executor {
 public:
  local_executor();
  ~local_executor();
  local_executor(const local_executor&) = delete;
  local_executor& operator=(const local_executor&) = delete;

  /// Runs `work` on the executor's thread, inside `run_until`.
  void post(completion& work) noexcept;

  /// Returns once a completion has set `finished`.
  void run_until(const bool& finished);

 private:
  std::unique_ptr<runtime::executor> executor_;
};

}  // namespace holdfast::detail
