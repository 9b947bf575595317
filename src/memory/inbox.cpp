#include "memory/inbox.hpp"

#include <utility>

#include "memory/memory_lock.hpp"

namespace holdfast::memory {

void inbox::push(std::weak_ptr<memory_lock> to, message what) {
  const scoped_mutex lock(mutex_);
  if (helper_ == nullptr) return;
  letters_.push_back({std::move(to), std::move(what)});
  helper_->wake();
}

void inbox::close() noexcept {
  std::deque<letter> undelivered;
  const scoped_mutex lock(mutex_);
  helper_ = nullptr;
  undelivered.swap(letters_);
}

net::attendant::interest inbox::wants(monotonic_time now) {
  const scoped_mutex lock(mutex_);
  interest wanted;
  if (!letters_.empty()) wanted.at = now;
  return wanted;
}

bool inbox::deliver() {
  std::deque<letter> arrived;
  {
    const scoped_mutex lock(mutex_);
    arrived.swap(letters_);
  }
  for (const auto& one : arrived) {
    if (const auto who = one.to.lock()) one.what(*who);
  }
  return !arrived.empty();
}

}  // namespace holdfast::memory
