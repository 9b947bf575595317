#include "redis/late_wake_ups.hpp"

#include "base/futex.hpp"

namespace holdfast::redis {

thread_local std::vector<late_wake_ups::word*> late_wake_ups::put_off;
thread_local int late_wake_ups::scopes = 0;

late_wake_ups::~late_wake_ups() {
  --scopes;
  send();
}

void late_wake_ups::send() noexcept {
  for (std::size_t i = first_; i < put_off.size(); ++i) futex_wake_one(*put_off[i]);
  put_off.resize(first_);
}

void late_wake_ups::wake(word& on) {
  if (scopes > 0) {
    put_off.push_back(&on);
  } else {
    futex_wake_one(on);
  }
}

}  // namespace holdfast::redis
