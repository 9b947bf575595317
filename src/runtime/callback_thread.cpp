#include "runtime/callback_thread.hpp"

#include <exception>
#include <utility>

#include "net/clock.hpp"
#include "net/quiet_thread.hpp"

namespace holdfast::runtime {
namespace {

thread_local const callback_thread* here = nullptr;

}  // namespace

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
  run();  // what is still queued, should there have been no thread for it
  timers_.disarm(*this);
}

bool callback_thread::is_this_thread() const noexcept { return here == this; }

bool callback_thread::is_any() noexcept { return here != nullptr; }

void callback_thread::run() {
  const auto* const outer = std::exchange(here, this);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    detail::completion* const next = queue_.pop();
    if (next == nullptr) break;
    lock.unlock();
    next->complete();
    lock.lock();
  }
  here = outer;
}

}  // namespace holdfast::runtime
