#include "lease/reader_turns.hpp"

#include <algorithm>

namespace holdfast::leasing {

bool reader_turns::may_join(const local_turns::glance& seen) const noexcept {
  if (last_ == nullptr || last_->minor == last_minor || last_->major <= floor_) return false;
  const bool is_first = seen.now < turn_ends_ && last_->minor < last_minor / 2;
  const bool is_second = asker_ != nullptr && seen.now < turn_ends_ + local_turn;
  return (is_first || is_second) && seen.left > enough_;
}

std::uint32_t reader_turns::join() noexcept {
  ++last_->readers;
  return ++last_->minor;
}

void reader_turns::on_granted(share& made, monotonic_time now) noexcept {
  made.readers = 1;
  last_ = &made;
  turn_ends_ = now + local_turn;
}

bool reader_turns::on_left(share& from) noexcept {
  if (--from.readers > 0) return false;
  if (last_ == &from) last_ = nullptr;
  return true;
}

bool reader_turns::has_asked(const void* request) noexcept {
  if (asker_ != request) return false;
  asker_ = nullptr;
  return true;
}

void reader_turns::raise_floor(substrate::token_major seen) noexcept {
  floor_ = std::max(floor_, seen);
}

}  // namespace holdfast::leasing
