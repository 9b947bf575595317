#include "simulation/latch_watch.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "redis/dialects/catalog.hpp"
#include "redis/dialects/holdfast/latch.hpp"
#include "simulation/gate_world.hpp"

namespace holdfast::simulation::gates {

const dialects::recipe& latch_watch::how() const { return dialects::native_latch(); }

std::string latch_watch::look() {
  const auto name = in().key().value_key();
  const auto held = in().server().look(std::array<std::string_view, 2>{"GET", name});
  const auto left = dialects::read_latch(in().key(), held);
  if (std::holds_alternative<substrate::refused>(left)) {
    in().violated("G2: what stands there is no latch: " + held.text);
    return "0";
  }
  return std::to_string(std::get<std::uint32_t>(left));
}

bool latch_watch::lasts(std::string_view key) const {
  return left_ > 0 && key == in().key().value_key();
}

// ---- those who wait

void latch_watch::called(const std::string& request) {
  calls_.insert_or_assign(request, call{.begun_at = in().now(), .may_pass = left_ == 0});
}

void latch_watch::told_to_wait(const std::string& request, monotonic_time asked_at) {
  const auto found = calls_.find(request);
  if (found != calls_.end() && asked_at > emptied_at()) found->second.waits = true;
}

void latch_watch::became(std::uint32_t left) {
  const bool opens = left == 0 && left_ > 0;
  left_ = left;
  if (!opens) return;
  ++in().result().openings;
  open_since_ = in().now();
  for (auto& [request, one] : calls_) {
    one.may_pass = true;
    if (one.waits && !one.opened_at) one.opened_at = in().now();
  }
}

std::optional<monotonic_time> latch_watch::open_since(const std::string& request) const {
  const auto found = calls_.find(request);
  if (found == calls_.end()) return std::nullopt;
  if (left_ == 0) return std::max(open_since_, found->second.begun_at);
  return found->second.opened_at;
}

void latch_watch::passed(const std::string& request, substrate::token_major) {
  const auto found = calls_.find(request);
  if (found == calls_.end() || !found->second.may_pass) {
    in().violated("G1: somebody went on although the latch was set all the time");
  }
  if (left_ > 0) ++in().result().set_again;
  calls_.erase(request);
}

void latch_watch::failed(const std::string& request, errc, bool) { calls_.erase(request); }

void latch_watch::executed(const std::string&) {
  if (!is_unchanged()) in().violated("G2: somebody who only waits has changed the latch");
}

// ---- those who change it

// When things go wrong no more it is counted down until all have passed.
dialects::once_call latch_watch::draw(const std::string& request) {
  auto& dice = in().chance();
  const bool sets = in().faults() && dice.chance(45);
  const auto number = static_cast<std::uint32_t>(in().faults() ? 1 + dice.up_to(2) : 1000);
  wishes_[request] = {sets, number};
  return sets ? dialects::latch_set(in().key(), number)
              : dialects::latch_count_down(in().key(), number);
}

// Where not all who wait were told yet, the rest is.
std::optional<dialects::once_call> latch_watch::follow(const substrate::once_answer& answer,
                                                       const std::string& next) {
  const auto verdict = dialects::read_latch_change(in().key(), answer);
  const auto* const change = std::get_if<dialects::latch_change>(&verdict);
  if (change == nullptr || !change->more) return std::nullopt;
  wishes_[next] = {false, 0};
  return dialects::latch_count_down(in().key(), 0);
}

// It was to be set, but first all must hear that it is open.
bool latch_watch::is_undone(const std::string& request,
                            const substrate::once_answer& answer) const {
  return wishes_.at(request).sets && answer.word == "opened";
}

void latch_watch::done(const std::string& request, const substrate::once_answer& answer,
                       const std::string& after) {
  const auto [sets, number] = wishes_.at(request);
  std::uint32_t expected = left_;
  if (sets && left_ == 0) expected = number;
  if (!sets) expected = left_ > number ? left_ - number : 0;
  if (after != std::to_string(expected)) {
    in().violated("G2: a change has left " + after + " of " + before() + ", not " +
                  std::to_string(expected));
  }
  const auto queue = in().key().value_key() + ":w";
  const auto* const waiting = in().server().look_at_sorted_set(queue);
  if (sets && answer.word == "ok" && waiting != nullptr && !waiting->empty()) {
    in().violated("G3: the latch was set over somebody who waits since before");
  }
  became(expected);
}

void latch_watch::happened(fault what) {
  change_watch::happened(what);
  if (what != fault::flushed && what != fault::restarted_empty) return;
  became(0);
  for (auto& [request, one] : calls_) {
    one.waits = false;
    one.opened_at.reset();
  }
}

}  // namespace holdfast::simulation::gates
