// A kind of lock, as the simulation needs to know it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/lock_key.hpp"
#include "lease/server_clock.hpp"
#include "redis/dialects/recipe.hpp"
#include "simulation/dice.hpp"
#include "simulation/server/simulated_server.hpp"
#include "simulation/shares.hpp"

namespace holdfast::simulation {

// For requests of operators, which are never late here.
inline constexpr server_time whenever = leasing::far_future - microseconds{1};

// One holder, as the server knows it.
struct holder {
  std::string owner;  // its request id
  substrate::token_major token = 0;
  // How much longer the server keeps the lock for it: more than 0.
  microseconds remaining{};
  share has{'x', 1};
  std::string was{};  // the request in whose place it came, if it has changed its lease
};

// And one waiter.
struct waiter {
  std::string owner;
  double ticket = 0;
  bool hears = true;  // otherwise it polls
  share wants{'x', 1};
  std::string replaces{};  // the request in whose place this one comes, if it changes what is held
};

struct kind {
  std::string_view name;
  const dialects::recipe* recipe;
  // What an acquisition asks for. One that lives for ever; null: the lock alone.
  const substrate::demand* (*want)(dice&);
  void (*holders)(simulated_server&, const lock_key&, std::vector<holder>&);
  void (*queue)(simulated_server&, const lock_key&, std::vector<waiter>&);
  // How many permits there are now; null: it has none.
  std::uint32_t (*limit)(simulated_server&, const lock_key&) = nullptr;
  // To which mode a holder of this one changes; 0: it keeps it. Null: modes cannot be changed.
  char (*change)(dice&, char has) = nullptr;
  // A client may retain it (mutex_options::retain).
  bool is_kept = false;
  // A command that an operator gives while things go wrong, or when they do no more; null: none.
  std::string (*operate)(dice&, const lock_key&, bool faults) = nullptr;
};

// One at a time, with fencing tokens.
const kind& mutex_kind();
// Readers, upgradeable readers and writers.
const kind& read_write_kind();
// Permits, the number of which changes.
const kind& semaphore_kind();
// The six modes of the DLMs, and changes from each to each.
const kind& mode_lock_kind();

std::span<const kind* const> all_kinds();

// The entries of a lock's queue: request ids and the text behind them.
void waiters(simulated_server&, const lock_key&, std::vector<waiter>&,
             void (*read)(std::string_view behind, waiter&));

// Of a lock that several can have: the holders whose leases have not ended, and the waiters.
void shared_holders(simulated_server&, const lock_key&, std::vector<holder>&);
void shared_queue(simulated_server&, const lock_key&, std::vector<waiter>&);

}  // namespace holdfast::simulation
