#include "net/closing.hpp"

#include <poll.h>

#include <atomic>
#include <utility>

#include "net/clock.hpp"
#include "net/descriptor.hpp"
#include "net/quiet_thread.hpp"
#include "net/socket.hpp"
#include "net/wake_up.hpp"

namespace holdfast::net {
namespace {

constexpr std::chrono::seconds longest_wait_at_exit{3};

struct closings {
  std::atomic<int> under_way{0};
  wake_up one_ended;
};

// Never destroyed: a thread may still use it when the process ends.
closings& all() {
  static auto& made = *new closings;
  return made;
}

// Otherwise the process would end beneath what is being closed.
class wait_at_exit {
 public:
  wait_at_exit() : generation_(process_generation()) { all(); }
  wait_at_exit(const wait_at_exit&) = delete;
  wait_at_exit& operator=(const wait_at_exit&) = delete;
  ~wait_at_exit() {
    // Of the parent's threads the child of a fork has none, and one of ours would wait for itself.
    if (generation_ != process_generation() || is_quiet_thread()) return;
    const connect_limits limits{now() + longest_wait_at_exit, milliseconds{0}, nullptr};
    while (all().under_way.load() > 0 && wait_ready(all().one_ended.fd(), POLLIN, limits)) {
      all().one_ended.clear();
    }
  }

 private:
  const std::uint64_t generation_;
};

}  // namespace

void close_aside(std::function<void()> body) {
  static const wait_at_exit waits;
  ++all().under_way;
  quiet_thread("holdfast-close", [closing = std::move(body)]() mutable {
    std::exchange(closing, nullptr)();
    --all().under_way;
    all().one_ended.signal();
  }).detach();
}

}  // namespace holdfast::net
