#include "redis/late_wake_ups.hpp"

#include "base/futex.hpp"

namespace holdfast::redis {

thread_local late_wake_ups* late_wake_ups::current = nullptr;

late_wake_ups::~late_wake_ups() {
  current = outer_;
  send();
}

void late_wake_ups::send() noexcept {
  for (word* const one : kept_) futex_wake_one(*one);
  kept_.clear();
}

void late_wake_ups::wake(word& on) {
  if (current != nullptr) {
    current->kept_.push_back(&on);
  } else {
    futex_wake_one(on);
  }
}

}  // namespace holdfast::redis
