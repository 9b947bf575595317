// Eight locks at once: how much more than one does a pair of all take?
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/all_of.hpp>
#include <holdfast/client.hpp>

#include "base/lock_key.hpp"
#include "support/measure.hpp"
#include "support/pairs.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

// As many locks, which all have the first one's hash slot or none the slot of another.
std::vector<lock> mutexes(const client& client, std::size_t count, bool of_one_slot) {
  std::vector<lock> locks;
  std::set<std::uint16_t> slots;
  for (int i = 0; locks.size() < count; ++i) {
    const auto name = "bench " + std::to_string(i);
    const auto slot = lock_key(name).slot();
    if (!slots.empty() && slots.contains(slot) != of_one_slot) continue;
    slots.insert(slot);
    locks.push_back(client.mutex(name));
  }
  return locks;
}

}  // namespace

// Locks of one slot draw from one fence counter, others each from its own.
void all_of8(const setting& with) {
  const holdfast::client client(with.redis.url());
  const auto pairs = [&](lock target) { return pairs_of(std::move(target), with.turn()); };
  with.redis.place(placement::two_cores);
  const auto figures =
      run_by_turns(with.redis, with.turns(),
                   {pairs(client.mutex("bench")), pairs(all_of(mutexes(client, 8, true))),
                    pairs(all_of(mutexes(client, 8, false)))});
  with.redis.place(placement::free);
  const auto one = figures[0].p50, of_one_slot = figures[1].p50, of_eight = figures[2].p50;
  with.results.at_most("all_of8.p50_vs_one_lock", of_one_slot / one, "x", 2.0);
  with.results.tell("all_of8.eight_slots_p50_vs_one_lock", of_eight / one, "x");
  with.results.tell("all_of8.p50", of_one_slot, "us");
  with.results.tell("all_of8.one_lock_p50", one, "us");
}

}  // namespace holdfast::bench
