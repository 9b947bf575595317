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

// What the server knows of one who has the lock.
struct holder {
  std::string owner;  // his request id
  substrate::token_major token = 0;
  // Until when the server keeps the lock for him, from now on: more than 0.
  microseconds remaining{};
  share has{'x', 1};
  std::string was{};  // the request in whose place he came, if he has changed what he had
};

// And of one who waits for it.
struct waiter {
  std::string owner;
  double ticket = 0;
  bool hears = true;  // otherwise he polls
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
  // To which mode one changes who has this; 0: he keeps it. Null: nobody can change what he has.
  char (*change)(dice&, char has) = nullptr;
  // It may be kept by who does not use it (mutex_options::retain).
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

// Who stands in the queue of a lock: request ids and what is written behind them.
void waiters(simulated_server&, const lock_key&, std::vector<waiter>&,
             void (*read)(std::string_view behind, waiter&));

// Those whose leases have not ended, and those who wait, of a lock that several can have.
void shared_holders(simulated_server&, const lock_key&, std::vector<holder>&);
void shared_queue(simulated_server&, const lock_key&, std::vector<waiter>&);

}  // namespace holdfast::simulation
