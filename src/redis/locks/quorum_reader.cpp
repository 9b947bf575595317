#include "redis/locks/quorum_reader.hpp"

#include <algorithm>

#include "base/identity.hpp"

namespace holdfast::redis_locks {

quorum_reader::quorum_reader(mutex& guard, quorum_group& group, const lock_key& key)
    : guard_(guard), group_(group), slot_(key.slot()), mine_(group.size(), false) {}

redis::connection& quorum_reader::connection(std::size_t member) const {
  return group_.at(member).connection(slot_);
}

void quorum_reader::begin(net::waiter* sleeper) {
  sleeper_ = sleeper;
  thread_ = sleeper != nullptr ? this_thread() : 0;
}

redis::connection::delivery quorum_reader::delivery_to(std::size_t member) {
  const bool reads = sleeper_ != nullptr && thread_ == this_thread() && !group_.is_slow(member);
  mine_[member] = reads;
  return reads ? redis::connection::delivery::watched : redis::connection::delivery::prompt;
}

void quorum_reader::answered(std::size_t member) noexcept {
  mine_[member] = false;
  wake();
}

void quorum_reader::wake() noexcept {
  if (sleeper_ != nullptr) sleeper_->done();
}

std::optional<std::size_t> quorum_reader::next() const noexcept {
  const auto found = std::ranges::find(mine_, true);
  if (found == mine_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - mine_.begin());
}

void quorum_reader::drive(net::waiter& self, const std::function<bool()>& is_over) {
  self.set_companion(this);
  std::optional<std::size_t> at;
  for (;;) {
    {
      const scoped_mutex lock(guard_);
      self.clear_done();
      if (is_over()) {
        leave(at);
        break;
      }
      at = next();
      slept_ = false;
    }
    if (at) {
      connection(*at).drive(self);
    } else {
      self.sleep();
    }
  }
  self.set_companion(nullptr);
}

// Should the one be slow at which it sleeps, the others may be a majority.
void quorum_reader::before_sleep() {
  const scoped_mutex lock(guard_);
  slept_ = true;
  for (std::size_t i = 0; i < mine_.size(); ++i) {
    if (mine_[i]) connection(i).look_soon();
  }
}

// The answers of those that come after the decision are read together, some milliseconds later: if
// the background thread looked at each of them soon, it would hardly ever sleep.
void quorum_reader::leave(std::optional<std::size_t> at) {
  sleeper_ = nullptr;
  if (at && mine_[*at] && slept_) group_.set_slow(*at, true);
  for (std::size_t i = 0; i < mine_.size(); ++i) {
    if (mine_[i]) connection(i).let_lie();
  }
}

}  // namespace holdfast::redis_locks
