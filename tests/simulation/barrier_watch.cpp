#include "simulation/barrier_watch.hpp"

#include <algorithm>
#include <utility>

#include "redis/dialects/catalog.hpp"
#include "simulation/gate_world.hpp"
#include "simulation/promises.hpp"

namespace holdfast::simulation::gates {

using namespace std::chrono_literals;

const dialects::recipe& barrier_watch::how() const { return dialects::native_barrier(); }

void barrier_watch::called(const std::string& request) { calls_.insert_or_assign(request, call{}); }

void barrier_watch::asks(const std::string& request, substrate::wakeup_way way) {
  calls_[request].way = way;
}

// A party that asks is heard of, and may be the last that was missing.
void barrier_watch::executed(const std::string& request) {
  auto& server = world_.server();
  const auto* const gone_on = server.look_at_sorted_set(world_.key().value_key() + ":g");
  const auto last =
      gone_on == nullptr ? 0 : static_cast<substrate::token_major>(gone_on->back().first);
  if (last != 0 && last != last_) opened(*gone_on, request);
  last_ = last;
  if (const auto found = calls_.find(request); found != calls_.end()) {
    found->second.asked_at = server.now();
  }
}

void barrier_watch::opened(const keyspace::sorted_set& gone_on, const std::string& by) {
  ++world_.result().openings;
  const auto score = gone_on.back().first;
  const auto generation = static_cast<substrate::token_major>(score);
  if (std::exchange(counter_lost_, false) && is_out_of_reach(newest_, world_.server().now())) {
    newest_ = 0;
  }
  if (generation <= newest_) world_.violated("B3: a generation is not above the one before");
  newest_ = std::max(newest_, generation);
  std::uint32_t parties = 0;
  const auto before = std::exchange(remembered_, {});
  for (const auto& [of, party] : gone_on) {
    remembered_.insert(party);
    if (of != score) continue;
    ++parties;
    if (before.contains(party)) world_.violated("B2: an arrival counts twice: " + party);
    went_on(party, generation, by);
  }
  for (const auto& party : before) {
    if (remembered_.contains(party) || may_forget(party, before.size())) continue;
    world_.violated("B2: it is forgotten who went on: " + party);
  }
  if (parties != wants_.limit) {
    world_.violated("B2: " + std::to_string(parties) + " parties in a generation of " +
                    std::to_string(wants_.limit));
  }
}

void barrier_watch::went_on(const std::string& party, substrate::token_major generation,
                            const std::string& by) {
  if (party != by && is_gone(party)) world_.violated("B4: one who is gone is counted: " + party);
  if (left_.contains(party) && !set_back_) world_.violated("B4: who has left is counted: " + party);
  passages_.insert_or_assign(party, passage{generation, world_.now()});
}

// The parties that went on more than a minute ago, if more than four generations are remembered.
// The server's clock may have been set forward since.
bool barrier_watch::may_forget(const std::string& party, std::size_t known) const {
  return known >= std::size_t{4} * wants_.limit && world_.now() - passages_.at(party).at > 45s;
}

bool barrier_watch::is_gone(const std::string& party) const {
  const auto found = calls_.find(party);
  if (found == calls_.end()) return true;
  const auto& [way, asked_at] = found->second;
  const auto silent = world_.server().now() - asked_at;
  if (way == substrate::wakeup_way::poll) return silent > 5s;
  return silent > 120s || !world_.is_connected(party);
}

void barrier_watch::passed(const std::string& request, substrate::token_major generation) {
  const auto found = passages_.find(request);
  if (found == passages_.end()) {
    return world_.violated("B1: somebody went on of a generation that is not whole");
  }
  if (found->second.generation != generation) {
    world_.violated("B1: a party heard another number than its generation's");
  }
}

void barrier_watch::failed(const std::string& request, errc why, bool calm) {
  if (why != errc::lost) return;
  ++world_.result().losses;
  if (remembered_.contains(request)) {
    world_.violated("B5: the others went on with one who is told that they did without: " +
                    request);
  }
  const bool is_forgotten = passages_.contains(request);
  if (calm && !is_forgotten)
    world_.violated("B5: the others went on without one who was there all the time");
}

void barrier_watch::happened(fault what) {
  if (what == fault::clock_back) set_back_ = true;
  if (what != fault::flushed && what != fault::restarted_empty) return;
  emptied_at_ = world_.now();
  counter_lost_ = true;
  last_ = 0;
  remembered_.clear();
}

std::optional<monotonic_time> barrier_watch::open_since(const std::string& request) const {
  const auto found = passages_.find(request);
  if (found == passages_.end() || !remembered_.contains(request)) return std::nullopt;
  return found->second.at;
}

}  // namespace holdfast::simulation::gates
