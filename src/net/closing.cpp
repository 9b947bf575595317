#include "net/closing.hpp"

#include <poll.h>

#include <atomic>
#include <system_error>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "base/uncancelled.hpp"
#include "net/clock.hpp"
#include "net/own_to_process.hpp"
#include "net/quiet_thread.hpp"
#include "net/socket.hpp"
#include "net/wake_up.hpp"

namespace holdfast::net {
namespace {

constexpr std::chrono::seconds longest_wait_at_exit{3};

struct closings {
  mutex guard;
  std::vector<std::function<void()>> waiting HOLDFAST_GUARDED_BY(guard);
  std::atomic<int> under_way{0};  // threads
  wake_up one_ended;
};

closings& all() { return own_to_process<closings>(); }

void close_waiting() {
  for (;;) {
    std::function<void()> next;
    {
      const scoped_mutex lock(all().guard);
      if (all().waiting.empty()) return;
      next = std::move(all().waiting.back());
      all().waiting.pop_back();
    }
    next();
  }
}

// Otherwise the process would end beneath what is being closed.
class wait_at_exit {
 public:
  wait_at_exit() { all(); }
  wait_at_exit(const wait_at_exit&) = delete;
  wait_at_exit& operator=(const wait_at_exit&) = delete;
  ~wait_at_exit() {
    if (is_quiet_thread()) return;  // it would wait for itself
    const uncancelled meanwhile;
    close_waiting();  // there may have been no thread for it
    const connect_limits limits{now() + longest_wait_at_exit, milliseconds{0}, nullptr};
    while (all().under_way.load() > 0 && wait_ready(all().one_ended.fd(), POLLIN, limits)) {
      all().one_ended.clear();
    }
  }
};

}  // namespace

void close_aside(std::function<void()> body) {
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wexit-time-destructors"  // its whole purpose
#endif
  static const wait_at_exit waits;
#ifdef __clang__
#pragma clang diagnostic pop
#endif
  {
    const scoped_mutex lock(all().guard);
    all().waiting.push_back(std::move(body));
  }
  ++all().under_way;
  try {
    quiet_thread("holdfast-close", [] {
      close_waiting();
      --all().under_way;
      all().one_ended.signal();
    }).detach();
  } catch (const std::system_error&) {
    --all().under_way;  // the next one closes it, or the end of the process
  }
}

}  // namespace holdfast::net
