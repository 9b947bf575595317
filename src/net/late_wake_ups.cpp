#include "net/late_wake_ups.hpp"

#include "base/futex.hpp"

namespace holdfast::net {

thread_local int late_wake_ups::scopes = 0;

late_wake_ups::~late_wake_ups() {
  --scopes;
  send();
}

void late_wake_ups::send() noexcept {
  auto& late = put_off();
  for (std::size_t i = first_; i < late.size; ++i) futex_wake_one(*late.all[i]);
  late.size = first_;
}

void late_wake_ups::wake(word& on) noexcept {
  if (scopes > 0) {
    auto& late = put_off();
    if (late.size < late.all.size()) {
      late.all[late.size++] = &on;
      return;
    }
  }
  futex_wake_one(on);
}

}  // namespace holdfast::net
