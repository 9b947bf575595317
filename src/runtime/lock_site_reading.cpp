// Readers who may join each other: one asks the server for all who come meanwhile.
#include <new>
#include <optional>
#include <utility>

#include "runtime/lock_site.hpp"

namespace holdfast::runtime {

lock_site::entry lock_site::enter_to_read(leasing::patience patience, identity thread,
                                          bool may_stop) {
  if (auto joined = readers_->join()) return {.got = std::move(joined)};
  if (!patience.waits) return {.asks = new_tenure(patience, may_stop)};
  const scoped_mutex lock(mutex_);
  if (state_ == state::asking) {
    return {.waits = std::make_shared<local_waiter>(shared_from_this(), patience, thread)};
  }
  auto asks = new_tenure(patience, may_stop);
  readers_->asks(*asks);
  state_ = state::asking;
  return {.asks = std::move(asks)};
}

// All who wait here come in with the one that asked; if there were too many for one grant, the next
// of them asks again. They are told under the mutex: a waiter that gives up finds either that it
// still waits, or what it was told, to withdraw it. Where this throws, the grant goes back.
grant lock_site::obtained_to_read(std::shared_ptr<tenure> by) {
  const bool asked_for_all = readers_->has_asked(*by);
  std::optional<grant> whole;
  try {
    whole = readers_->obtained(by);
  } catch (const std::bad_alloc&) {
    by->release({});
  }
  std::shared_ptr<local_waiter> next;
  {
    const scoped_mutex lock(mutex_);
    while (whole && !waiters_.empty() && admit_first()) continue;
    if (asked_for_all) next = promote_next();
  }
  if (next) next->ask(false);
  if (!whole) throw std::bad_alloc();
  return *std::move(whole);
}

// False: it cannot join.
bool lock_site::admit_first() noexcept {
  std::optional<grant> joined;
  bool failed = false;
  try {
    joined = readers_->join();
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  if (!joined && !failed) return false;
  const auto one = std::move(waiters_.front());
  waiters_.pop_front();
  if (failed) {
    one->fail();
    return true;
  }
  one->got_ = *std::move(joined);
  one->state_ = local_waiter::state::granted;
  one->listener_.tell(engine_);
  return true;
}

}  // namespace holdfast::runtime
