#include "base/identity.hpp"

#include <atomic>

namespace holdfast {

identity new_identity() noexcept {
  static std::atomic<identity> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

identity this_thread() noexcept {
  thread_local identity mine = 0;
  if (mine == 0) mine = new_identity();
  return mine;
}

}  // namespace holdfast
