// A kind of lock, as the simulation needs to know it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/lock_key.hpp"
#include "dialects/recipe.hpp"
#include "simulation/dice.hpp"
#include "simulation/server/simulated_server.hpp"

namespace holdfast::simulation {

// What the server knows of one who has the lock.
struct holder {
  std::string owner;  // his request id
  dialects::token_major token = 0;
  // Until when the server keeps the lock for him, from now on.
  microseconds remaining{};
};

struct kind {
  std::string_view name;
  const dialects::recipe* recipe;
  // What an acquisition asks for. One that lives for ever; null: the lock alone.
  const dialects::demand* (*want)(dice&);
  // Whether these two may have the lock together.
  bool (*may_share)(const dialects::demand*, const dialects::demand*);
  void (*holders)(simulated_server&, const lock_key&, std::vector<holder>&);
  std::uint64_t (*waiting)(simulated_server&, const lock_key&);
};

// One at a time, with fencing tokens.
const kind& mutex_kind();

}  // namespace holdfast::simulation
