#include "redis/connection/outbox.hpp"

#include <sched.h>

#include <new>

namespace holdfast::redis {

void outbox::clear() noexcept {
  written_.clear();
  commands_ = 0;
  blocked_ = false;
}

void outbox::add(request& r, monotonic_time now) {
  r.write_down(written_, scripts_, now);
  ++commands_;
}

bool outbox::try_add(request& first, request* second, monotonic_time now) noexcept {
  const auto bytes_before = written_.size();
  const auto commands_before = commands_;
  try {
    add(first, now);
    if (second != nullptr) add(*second, now);
    return true;
  } catch (const std::bad_alloc&) {
    written_.resize(bytes_before);
    commands_ = commands_before;
    return false;
  }
}

link::outcome outbox::send(link& over, mutex& guard, bool lets_others_add) {
  being_sent_ = true;
  if (lets_others_add) {
    guard.unlock();
    sched_yield();
    guard.lock();
  }
  auto outcome = link::outcome::data;
  while (outcome == link::outcome::data && !written_.empty()) {
    sending_.clear();
    sending_.swap(written_);
    commands_ = 0;
    sent_ = 0;
    guard.unlock();
    outcome = over.send(sending_, sent_);
    guard.lock();
  }
  being_sent_ = false;
  if (outcome != link::outcome::would_block) return outcome;
  blocked_ = true;
  return keep_unsent() ? outcome : link::outcome::closed;
}

// The bytes that the socket did not take come first. False: there is no memory for the commands
// that others have written behind them meanwhile.
bool outbox::keep_unsent() noexcept {
  try {
    sending_.append(written_);
  } catch (const std::bad_alloc&) {
    return false;
  }
  sending_.erase(0, sent_);
  written_.swap(sending_);
  return true;
}

}  // namespace holdfast::redis
