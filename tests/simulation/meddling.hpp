// People meddle with a lock's keys while things go wrong: they delete one, or break the lock.
#pragma once

#include <string>

#include "simulation/kind.hpp"

namespace holdfast::simulation {

struct meddling {
  std::string command;
  // The holder has lost the lock, and does not know. Nothing else is promised any less.
  bool ends_leases = false;
  // The fence counter is gone.
  bool loses_counter = false;
};

meddling draw_meddling(dice&, const kind&, const lock_key&);

}  // namespace holdfast::simulation
