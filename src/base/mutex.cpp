#include "base/mutex.hpp"

#include <cerrno>

#include "base/futex.hpp"

namespace holdfast {

// A mutex may be taken between a failed call and the look at its errno.
void mutex::wait_and_lock() noexcept {
  const int before = errno;
  while (state_.exchange(waited_for, std::memory_order_acquire) != unlocked) {
    futex_wait(state_, waited_for);
  }
  errno = before;
}

void mutex::wake_one() noexcept {
  const int before = errno;
  futex_wake_one(state_);
  errno = before;
}

}  // namespace holdfast
