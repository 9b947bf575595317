#include "redis/late_wake_ups.hpp"

#include "base/futex.hpp"

namespace holdfast::redis {

thread_local int late_wake_ups::scopes = 0;

late_wake_ups::~late_wake_ups() {
  --scopes;
  send();
}

void late_wake_ups::send() noexcept {
  auto& all = put_off();
  for (std::size_t i = first_; i < all.size(); ++i) futex_wake_one(*all[i]);
  all.resize(first_);
}

void late_wake_ups::wake(word& on) {
  if (scopes > 0) {
    put_off().push_back(&on);
  } else {
    futex_wake_one(on);
  }
}

}  // namespace holdfast::redis
