#include "cli/serve/history.hpp"

#include <algorithm>

namespace holdfast::cli {

void history::add(const look& when, const lock_status& lock, const char* what) {
  all_.push_back({lock.name, when.now.value_or(when.seen_at), what, lock.owner, lock.token});
  if (all_.size() > most_) all_.pop_front();
}

void history::compare(const lock_status& before, const lock_status& after, const look& when) {
  const bool was_held = before.state == lock_state::held;
  const bool is_held = after.state == lock_state::held;
  if (is_held && !was_held) return add(when, after, "held");
  if (was_held && !is_held) return add(when, after, "free");
  if (before.owner.id != after.owner.id || before.token != after.token) {
    return add(when, after, "changed hands");
  }
  if (before.waiting != after.waiting) add(when, after, "waiters");
}

// Both lists are sorted by name.
void history::compare(const look& before, const look& after) {
  auto old = before.locks.locks.begin();
  const auto old_end = before.locks.locks.end();
  const auto skip_to = [&](const std::string* name) {
    for (; old != old_end && (name == nullptr || old->name < *name); ++old) {
      if (!after.locks.complete || old->state != lock_state::held) continue;
      lock_status gone;
      gone.name = old->name;
      add(after, gone, "free");
    }
  };
  for (const auto& lock : after.locks.locks) {
    skip_to(&lock.name);
    if (old != old_end && old->name == lock.name) {
      compare(*old++, lock, after);
    } else if (before.locks.complete && lock.state == lock_state::held) {
      add(after, lock, "held");
    }
  }
  skip_to(nullptr);
}

std::vector<lock_event> history::of(std::string_view name, std::size_t most) const {
  std::vector<lock_event> some;
  for (auto one = all_.rbegin(); one != all_.rend() && some.size() < most; ++one) {
    if (one->name == name) some.push_back(*one);
  }
  return some;
}

}  // namespace holdfast::cli
