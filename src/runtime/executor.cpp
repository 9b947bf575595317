#include "runtime/executor.hpp"

#include <pthread.h>

#include <memory>
#include <utility>

#include "net/late_wake_ups.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::runtime {
namespace {

thread_local executor* innermost = nullptr;

}  // namespace

executor::executor() : outer_(innermost) {
  net::late_wake_ups::prepare();
  static const int registered = ::pthread_atfork(&prepare_fork, &go_on_in_parent, &go_on_in_child);
  (void)registered;
  innermost = this;
}

// A thread that forks is in a coroutine then, or some other code of the user's. Of all executors
// those of this thread are the only ones in the child.
void executor::prepare_fork() noexcept {
  for (auto* one = innermost; one != nullptr; one = one->outer_) one->mutex_.lock();
}

void executor::go_on_in_parent() noexcept {
  for (auto* one = innermost; one != nullptr; one = one->outer_) one->mutex_.unlock();
}

// The parent's connection knows the waiter, and the posted completions belong to operations of the
// parent: the child touches neither.
void executor::go_on_in_child() noexcept {
  for (auto* one = innermost; one != nullptr; one = one->outer_) {
    std::construct_at(&one->waiter_, net::waiter::kind::executor);
    std::construct_at(&one->queue_);
    if (one->end_ != nullptr) one->queue_.push(*one->end_);
    one->mutex_.unlock();
  }
}

executor::~executor() {
  if (core_ && core_->engine().is_in_its_process()) move_to(nullptr);
  innermost = outer_;
}

void executor::move_to(net::event_source* home) {
  auto* const former = waiter_.home();
  waiter_.set_home(home);
  if (former != nullptr) former->forget(waiter_);
}

executor* executor::current() noexcept { return innermost; }

void executor::will_drive(const std::shared_ptr<client_core>& core) {
  if (core_ == core) return;
  core->engine().prepare_to_drive();
  move_to(core->engine().home());
  core_ = core;
}

void executor::post(detail::completion& c) noexcept { push(c, false); }

void executor::post_end(detail::completion& c) noexcept { push(c, true); }

void executor::push(detail::completion& c, bool is_end) noexcept {
  bool sleeps = false;
  {
    // Until this is unlocked the thread cannot take what was posted, and then leave.
    const std::lock_guard lock(mutex_);
    queue_.push(c);
    if (is_end) end_ = &c;
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
  auto* const next = queue_.pop();
  if (next == end_) end_ = nullptr;
  return next;
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
