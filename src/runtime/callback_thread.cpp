#include "runtime/callback_thread.hpp"

#include <pthread.h>

#include <exception>
#include <memory>
#include <utility>

#include "net/clock.hpp"
#include "net/descriptor.hpp"
#include "net/quiet_thread.hpp"

namespace holdfast::runtime {
namespace {

thread_local callback_thread* here = nullptr;

std::mutex& guard_of_waits() {
  static constinit std::mutex only;  // has no destructor
  return only;
}

// In the child of a fork the thread that forked has the place of the first one, and another
// callback thread may have had the mutex.
void go_on_in_child() noexcept {
  here = nullptr;
  std::construct_at(&guard_of_waits());
}

}  // namespace

// A thread whose call has ended goes on, although it is still seen to wait.
callback_thread::wait::wait(const callback_thread& where, const std::atomic<bool>& call) noexcept {
  if (here == nullptr) return;
  const std::lock_guard lock(guard_of_waits());
  const callback_thread* next = &where;
  const std::atomic<bool>* running = &call;
  while (next != nullptr && next != here && *running) {
    running = next->while_;
    next = next->waits_for_;
  }
  may_wait_ = next != here || !*running;
  if (!may_wait_) return;
  here->waits_for_ = &where;
  here->while_ = &call;
}

callback_thread::wait::~wait() {
  if (here == nullptr || !may_wait_) return;
  const std::lock_guard lock(guard_of_waits());
  here->waits_for_ = nullptr;
  here->while_ = nullptr;
}

void callback_thread::post(detail::completion& c) noexcept {
  {
    const std::lock_guard lock(mutex_);
    queue_.push(c);
    start();
  }
  changed_.notify_one();
}

void callback_thread::start() noexcept {
  constexpr milliseconds pause{100};
  if (thread_.joinable()) return;
  static const int registered = ::pthread_atfork(nullptr, nullptr, &go_on_in_child);
  (void)registered;
  try {
    thread_ = net::quiet_thread("holdfast-user", [this] { run(); });
  } catch (const std::exception&) {
    timers_.arm(*this, net::now() + pause);
  }
}

void callback_thread::on_timer(monotonic_time) {
  const std::lock_guard lock(mutex_);
  if (!queue_.empty()) start();
}

void callback_thread::withdraw(const detail::completion& c) noexcept {
  const std::lock_guard lock(mutex_);
  queue_.withdraw(c);
}

void callback_thread::stop() noexcept {
  std::thread ending;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ending = std::move(thread_);
  }
  changed_.notify_one();
  if (ending.joinable()) return ending.join();
  run();  // the rest of the queue, should there have been no thread for it
  timers_.disarm(*this);
}

bool callback_thread::is_this_thread() const noexcept { return here == this; }

bool callback_thread::is_any() noexcept { return here != nullptr; }

void callback_thread::run() {
  auto* const outer = std::exchange(here, this);
  const auto process = net::process_generation();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    detail::completion* const next = queue_.pop();
    if (next == nullptr) break;
    lock.unlock();
    next->complete();
    if (process != net::process_generation()) return;  // it has forked: all this is the parent's
    lock.lock();
  }
  here = outer;
}

}  // namespace holdfast::runtime
