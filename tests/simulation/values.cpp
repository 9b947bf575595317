#include "simulation/values.hpp"

#include "simulation/gate_world.hpp"
#include "simulation/value_watches.hpp"

namespace holdfast::simulation {

gate_outcome simulate_value(std::size_t which, std::uint64_t seed) {
  static constexpr std::array watches{gates::watch_counter, gates::watch_fenced_write,
                                      gates::watch_rate_limiter, gates::watch_value_block};
  static_assert(watches.size() == value_names.size());
  dice dice{seed ^ 0xa1e5};
  const gates::plan what{.seed = seed,
                         .of =
                             [=](auto& in) {
                               return gates::subject{nullptr, watches.at(which)(in)};
                             },
                         .walkers = 2 + dice.up_to(2),
                         .fault_phase = std::chrono::seconds{8}};
  return gates::world{what}.run();
}

}  // namespace holdfast::simulation
