#include "simulation/barrier_watch.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "dialects/catalog.hpp"
#include "simulation/gate_world.hpp"

namespace holdfast::simulation::gates {

using namespace std::chrono_literals;

const dialects::recipe& barrier_watch::how() const { return dialects::native_barrier(); }

void barrier_watch::called(const std::string& request) { calls_.insert_or_assign(request, call{}); }

void barrier_watch::asks(const std::string& request, dialects::wakeup_way way) {
  calls_[request].way = way;
}

// Who asks is heard of, and may be the last that was missing.
void barrier_watch::executed(const std::string& request) {
  auto& server = world_.server();
  const auto gone_on = world_.key().value_key() + ":g";
  const auto last = server.look(std::array<std::string_view, 3>{"HGET", gone_on, "="});
  if (last.is_text() && last.text != last_) opened(std::stoull(last.text), request);
  last_ = last.text;
  highest_ = std::max(highest_, server.now());
  if (const auto found = calls_.find(request); found != calls_.end()) {
    found->second.asked_at = server.now();
  }
}

void barrier_watch::opened(dialects::token_major generation, const std::string& by) {
  ++world_.result().openings;
  auto& server = world_.server();
  if (std::exchange(counter_lost_, false) && server.now() < highest_) newest_ = 0;
  if (generation <= newest_) world_.violated("B3: a generation is not above the one before");
  newest_ = std::max(newest_, generation);
  const auto gone_on = world_.key().value_key() + ":g";
  const auto all = server.look(std::array<std::string_view, 2>{"HGETALL", gone_on});
  const auto number = std::to_string(generation);
  std::uint32_t parties = 0;
  const auto before = std::exchange(remembered_, {});
  for (std::size_t i = 0; i + 1 < all.items.size(); i += 2) {
    const auto& party = all.items[i].text;
    if (party == "=") continue;
    remembered_.insert(party);
    if (all.items[i + 1].text != number) continue;
    ++parties;
    if (before.contains(party)) world_.violated("B2: an arrival counts twice: " + party);
    went_on(party, generation, by);
  }
  const bool may_forget = before.size() >= std::size_t{4} * wants_.limit;
  if (!may_forget && !std::ranges::includes(remembered_, before)) {
    world_.violated("B2: it is forgotten who went on");
  }
  if (parties != wants_.limit) {
    world_.violated("B2: " + std::to_string(parties) + " parties in a generation of " +
                    std::to_string(wants_.limit));
  }
}

void barrier_watch::went_on(const std::string& party, dialects::token_major generation,
                            const std::string& by) {
  if (party != by && is_gone(party)) world_.violated("B4: one who is gone is counted: " + party);
  if (left_.contains(party) && !set_back_) world_.violated("B4: who has left is counted: " + party);
  passages_.insert_or_assign(party, passage{generation, world_.now()});
}

bool barrier_watch::is_gone(const std::string& party) const {
  const auto found = calls_.find(party);
  if (found == calls_.end()) return true;
  const auto& [way, asked_at] = found->second;
  const auto silent = world_.server().now() - asked_at;
  if (way == dialects::wakeup_way::poll) return silent > 5s;
  return silent > 120s || !world_.is_connected(party);
}

void barrier_watch::passed(const std::string& request, dialects::token_major generation) {
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
  last_.clear();
  remembered_.clear();
}

std::optional<monotonic_time> barrier_watch::open_since(const std::string& request) const {
  const auto found = passages_.find(request);
  if (found == passages_.end() || !remembered_.contains(request)) return std::nullopt;
  return found->second.at;
}

}  // namespace holdfast::simulation::gates
