#include "runtime/callback_thread.hpp"

#include "net/quiet_thread.hpp"

namespace holdfast::runtime {
namespace {

thread_local const callback_thread* here = nullptr;

}  // namespace

void callback_thread::post(detail::completion& c) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push(c);
    if (!thread_.joinable()) thread_ = net::quiet_thread("holdfast-user", [this] { run(); });
  }
  changed_.notify_one();
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
  if (ending.joinable()) ending.join();
}

bool callback_thread::is_this_thread() const noexcept { return here == this; }

bool callback_thread::is_any() noexcept { return here != nullptr; }

void callback_thread::run() {
  here = this;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    detail::completion* const next = queue_.pop();
    if (next == nullptr) return;
    lock.unlock();
    next->complete();
    lock.lock();
  }
}

}  // namespace holdfast::runtime
