// A client that keeps the lock although it does not use it, as runtime/lock_site.cpp does.
#include "simulation/client.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

// Who stood in the queue was not told whether others stand behind him.
bool client::may_keep() const {
  return retain_ > milliseconds{0} && claim_.ticket == 0 && !revoked_ && !lost_;
}

// Then it is used again, while things go wrong, or given back.
void client::keep() {
  world_.kept();
  keeps_ = true;
  if (hears_all_) keeps_since_ = world_.now();
  auto& dice = world_.chance();
  const bool again = world_.faults() && dice.chance(50);
  later(world_.now() + dice.time_up_to(retain_), [this, again, mine = tenure_] {
    if (mine != tenure_ || !keeps_) return;
    if (!again || revoked_ || !believes()) return release();
    keeps_ = false;
    keeps_since_.reset();
    use_it();
  });
}

void client::asked_for() {
  revoked_ = true;
  if (!keeps_) return;
  world_.asked_for();
  release();
}

}  // namespace holdfast::simulation
