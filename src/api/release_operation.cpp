#include <holdfast/detail/release_operation.hpp>

#include <utility>

#include <holdfast/lease.hpp>

#include "runtime/client_core.hpp"
#include "runtime/executor.hpp"
#include "runtime/holding.hpp"

namespace holdfast::detail {

bool release_operation::start(completion& when_done) {
  if (!lease_->is_ours()) return false;
  lease_->core_->check_process();
  auto* const executor = runtime::executor::current();
  if (executor != nullptr) executor->will_drive(lease_->core_);
  // The coroutine may go on elsewhere, and end with this, the lease and the last handle of the
  // client.
  const auto core = core_ = lease_->core_;
  const auto held = holding_ = lease_->holding_;
  lease_->released_ = true;
  lease_->forget_note();
  if (held->give_back({.completion = &when_done, .executor = executor})) return true;
  holding_.reset();
  return false;
}

result<void> release_operation::finish() {
  return holding_ ? holding_->take_released() : result<void>{};
}

}  // namespace holdfast::detail
