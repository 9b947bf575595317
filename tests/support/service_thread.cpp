#include "support/service_thread.hpp"

#include <algorithm>

#include "net/clock.hpp"
#include "net/quiet_thread.hpp"

namespace holdfast::support {

service_thread::service_thread(const char* name, service& served)
    : service_(served), thread_(net::quiet_thread(name, [this] { loop(); })) {}

void service_thread::stop() {
  if (!thread_.joinable()) return;
  post([this] { stopping_ = true; });
  thread_.join();
}

void service_thread::post(std::function<void()> task) const {
  {
    const std::lock_guard lock(guard_);
    tasks_.push_back(std::move(task));
  }
  wake_up_.signal();
}

bool service_thread::run_tasks() {
  std::deque<std::function<void()>> tasks;
  {
    const std::lock_guard lock(guard_);
    tasks.swap(tasks_);
  }
  for (const auto& task : tasks) task();
  return !stopping_;
}

void service_thread::loop() {
  std::vector<pollfd> descriptors;
  for (;;) {
    wake_up_.clear();
    if (!run_tasks()) return;
    descriptors.assign(1, {wake_up_.fd(), POLLIN, 0});
    auto at = monotonic_time::max();
    service_.wants(descriptors, at);
    const auto left = std::max(at - net::now(), nanoseconds{0});
    const timespec timeout{left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    const bool for_ever = at == monotonic_time::max();
    if (::ppoll(descriptors.data(), descriptors.size(), for_ever ? nullptr : &timeout, nullptr) <
        0) {
      continue;
    }
    service_.serve(std::span(descriptors).subspan(1));
  }
}

}  // namespace holdfast::support
