#include "runtime/callback_thread.hpp"

#include "net/quiet_thread.hpp"

namespace holdfast::runtime {

void callback_thread::post(detail::completion& c) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push(c);
    if (!thread_.joinable()) thread_ = net::quiet_thread("holdfast-user", [this] { run(); });
  }
  changed_.notify_one();
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

bool callback_thread::is_this_thread() const noexcept {
  const std::lock_guard lock(mutex_);
  return thread_.get_id() == std::this_thread::get_id();
}

void callback_thread::run() {
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
