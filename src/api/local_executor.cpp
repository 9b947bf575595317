#include <holdfast/detail/local_executor.hpp>

#include "runtime/executor.hpp"

namespace holdfast::detail {

local_executor::local_executor() : executor_(std::make_unique<runtime::executor>()) {}

local_executor::~local_executor() = default;

void local_executor::post(completion& work) noexcept { executor_->post(work); }

void local_executor::run_until(const bool& finished) { executor_->run_until(finished); }

}  // namespace holdfast::detail
