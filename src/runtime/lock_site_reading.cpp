// Readers who may join each other: one asks the server for all who come meanwhile.
#include <utility>

#include "runtime/lock_site.hpp"

namespace holdfast::runtime {

lock_site::entry lock_site::enter_to_read(leasing::patience patience, identity thread) {
  if (auto joined = readers_->join()) return {.got = std::move(joined)};
  if (!patience.waits) return {.asks = new_tenure(patience)};
  const scoped_mutex lock(mutex_);
  if (state_ == state::asking) {
    return {.waits = std::make_shared<local_waiter>(shared_from_this(), patience, thread)};
  }
  state_ = state::asking;
  auto asks = new_tenure(patience);
  readers_->asks(*asks);
  return {.asks = std::move(asks)};
}

// All who wait here come in with him who asked; if there were too many for one grant, the next of
// them asks again. They are told under the mutex: who gives up finds either that he still waits, or
// what he was told, to withdraw it.
grant lock_site::obtained_to_read(std::shared_ptr<tenure> by) {
  const bool asked_for_all = readers_->has_asked(*by);
  auto whole = readers_->obtained(std::move(by));
  std::shared_ptr<local_waiter> next;
  {
    const scoped_mutex lock(mutex_);
    while (!waiters_.empty()) {
      auto joined = readers_->join();
      if (!joined) break;
      const auto one = std::move(waiters_.front());
      waiters_.pop_front();
      one->got_ = *std::move(joined);
      one->state_ = local_waiter::state::granted;
      one->listener_.tell(engine_);
    }
    if (asked_for_all) next = promote_next();
  }
  if (next) next->ask(false);
  return whole;
}

}  // namespace holdfast::runtime
