// A client that retains the lock although it does not use it, as its turns say.
#include "simulation/client.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

leasing::local_turns::glance client::seen() const {
  return {now(), has_lock() ? mine_->session.deadline() - now() : nanoseconds{0}};
}

// While things go wrong it may be used again.
void client::retain() {
  world_.kept();
  if (hears_all_) keeps_since_ = world_.now();
  auto& dice = world_.chance();
  if (!world_.faults() || !dice.chance(50)) return;
  later(world_.now() + dice.time_up_to(retain_), [this, mine = attempt_] {
    if (mine != attempt_ || !turns_.is_idle()) return;
    if (turns_.take(seen()) == 0) return release();
    keeps_since_.reset();
    use_it();
  });
}

void client::obey(const leasing::local_turns::step& step) {
  // Or it is on its way back already.
  if (step.gives_back && has_lock()) return release();
  if (!step.sets_timer) return;
  later_here(now() + nanoseconds{retain_} / 2, [this, mine = attempt_] {
    if (mine == attempt_) obey(turns_.on_timer());
  });
}

void client::asked_for() {
  if (turns_.is_idle()) world_.asked_for();
  obey(turns_.on_revoked());
}

}  // namespace holdfast::simulation
