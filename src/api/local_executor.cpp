#include <holdfast/detail/local_executor.hpp>

#include <holdfast/errc.hpp>

#include "runtime/callback_thread.hpp"
#include "runtime/executor.hpp"

namespace holdfast::detail {

local_executor::local_executor() {
  if (runtime::callback_thread::is_any()) {
    throw failure{errc::would_deadlock,
                  "sync_wait in a callback would stop all callbacks; start a coroutine instead"};
  }
  executor_ = std::make_unique<runtime::executor>();
}

local_executor::~local_executor() = default;

void local_executor::post(completion& work) noexcept { executor_->post_end(work); }

void local_executor::run_until(const bool& finished) { executor_->run_until(finished); }

}  // namespace holdfast::detail
