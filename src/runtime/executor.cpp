#include "runtime/executor.hpp"

#include <utility>

#include "runtime/client_core.hpp"

namespace holdfast::runtime {
namespace {

thread_local executor* innermost = nullptr;

}  // namespace

executor::executor() : outer_(innermost) { innermost = this; }

executor::~executor() {
  if (core_ && core_->engine().is_in_its_process()) move_to(nullptr);
  innermost = outer_;
}

void executor::move_to(redis::connection* home) {
  auto* const former = waiter_.home();
  waiter_.set_home(home);
  if (former != nullptr) former->forget(waiter_);
}

executor* executor::current() noexcept { return innermost; }

void executor::will_drive(const std::shared_ptr<client_core>& core) {
  if (core_ == core) return;
  move_to(core->engine().home());
  core_ = core;
}

void executor::post(detail::completion& c) noexcept {
  bool sleeps = false;
  {
    // Until this is unlocked the thread cannot take what was posted, and then leave.
    const std::lock_guard lock(mutex_);
    queue_.push(c);
    sleeps = waiter_.set_done();
  }
  if (sleeps) waiter_.wake();
}

void executor::withdraw(const executor* where, const detail::completion& c) noexcept {
  for (auto* one = innermost; one != nullptr; one = one->outer_) {
    if (one != where) continue;
    const std::lock_guard lock(one->mutex_);
    return one->queue_.withdraw(c);
  }
}

// One after the other, since what runs may withdraw those behind it.
detail::completion* executor::take() noexcept {
  const std::lock_guard lock(mutex_);
  return queue_.pop();
}

void executor::run_until(const bool& finished) {
  while (!finished) {
    waiter_.clear_done();
    if (auto* const next = take()) {
      next->complete();
    } else if (auto* const driven = waiter_.home()) {
      driven->drive(waiter_);
    } else {
      waiter_.sleep();
    }
  }
}

}  // namespace holdfast::runtime
