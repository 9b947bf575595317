#include "simulation/latch_watch.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "dialects/catalog.hpp"
#include "dialects/holdfast/latch.hpp"
#include "simulation/gate_world.hpp"

namespace holdfast::simulation::gates {

const dialects::recipe& latch_watch::how() const { return dialects::native_latch(); }

std::uint32_t latch_watch::look() {
  const auto name = world_.key().value_key();
  const auto held = world_.server().look(std::array<std::string_view, 2>{"GET", name});
  const auto left = dialects::read_latch(world_.key(), held);
  if (std::holds_alternative<dialects::refused>(left)) {
    world_.violated("G: what stands there is no latch: " + held.text);
    return 0;
  }
  return std::get<std::uint32_t>(left);
}

// ---- those who wait

void latch_watch::called(const std::string& request, dialects::wakeup_way) {
  calls_.insert_or_assign(request, call{.begun_at = world_.now(), .may_pass = left_ == 0});
}

void latch_watch::told_to_wait(const std::string& request, monotonic_time asked_at) {
  const auto found = calls_.find(request);
  if (found != calls_.end() && asked_at > emptied_at_) found->second.waits = true;
}

void latch_watch::became(std::uint32_t left) {
  const bool opens = left == 0 && left_ > 0;
  left_ = left;
  if (!opens) return;
  ++world_.result().openings;
  open_since_ = world_.now();
  for (auto& [request, one] : calls_) {
    one.may_pass = true;
    if (one.waits && !one.opened_at) one.opened_at = world_.now();
  }
}

std::optional<monotonic_time> latch_watch::open_since(const std::string& request) const {
  const auto found = calls_.find(request);
  if (found == calls_.end()) return std::nullopt;
  if (left_ == 0) return std::max(open_since_, found->second.begun_at);
  return found->second.opened_at;
}

void latch_watch::passed(const std::string& request, dialects::token_major) {
  const auto found = calls_.find(request);
  if (found == calls_.end() || !found->second.may_pass) {
    world_.violated("G1: somebody went on although the latch was set all the time");
  }
  if (left_ > 0) ++world_.result().set_again;
  calls_.erase(request);
}

void latch_watch::failed(const std::string& request, errc, bool) { calls_.erase(request); }

// ---- those who change it

void latch_watch::executed(const std::string&) {
  if (look() != left_) world_.violated("G2: somebody who only waits has changed the latch");
}

void latch_watch::changed(const std::string& request, bool sets, std::uint32_t number,
                          const resp::value& reply) {
  const auto verdict = dialects::read_once(reply);
  const auto after = look();
  const auto* const answer = std::get_if<dialects::once_answer>(&verdict);
  const bool undone = answer == nullptr || (sets && answer->word == "opened");
  const auto earlier = effects_.find(request);
  const bool was_done = earlier != effects_.end();
  const bool excused = was_done && earlier->second.at <= std::max(emptied_at_, set_back_at_);
  const bool is_copy = was_done && (!excused || after == left_);
  if (undone || is_copy) {
    ++world_.result().copies;
    if (after != left_) world_.violated("G2: a copy of " + request + " counts once more");
  }
  if (undone) return;
  if (!is_copy) return first_copy(request, sets, number, *answer, after);
  if (excused) return;
  if (answer->word != earlier->second.word || answer->rest != earlier->second.rest) {
    world_.violated("G2: a copy is answered otherwise than the first");
  }
}

void latch_watch::first_copy(const std::string& request, bool sets, std::uint32_t number,
                             const dialects::once_answer& answer, std::uint32_t after) {
  const bool may_be_late = effects_.contains(request) || set_back_at_ > monotonic_time::min();
  if (over_.contains(request) && !may_be_late) {
    world_.violated("G2: a change was executed after its caller was told how it ended");
  }
  std::uint32_t expected = left_;
  if (sets && left_ == 0) expected = number;
  if (!sets) expected = left_ > number ? left_ - number : 0;
  if (after != expected) {
    world_.violated("G2: a change has left " + std::to_string(after) + " of " +
                    std::to_string(left_) + ", not " + std::to_string(expected));
  }
  effects_.insert_or_assign(request, effect{answer.word, answer.rest, world_.now()});
  const auto queue = world_.key().value_key() + ":w";
  const auto* const waiting = world_.server().look_at_sorted_set(queue);
  if (sets && answer.word == "ok" && waiting != nullptr && !waiting->empty()) {
    world_.violated("G3: the latch was set over somebody who waits since before");
  }
  became(after);
}

void latch_watch::change_done(const std::string& request) {
  over_.insert(request);
  if (!effects_.contains(request)) world_.violated("G2: what was answered was never done");
}

void latch_watch::change_failed(const std::string& request, bool doubtful) {
  over_.insert(request);
  if (!doubtful && effects_.contains(request)) {
    world_.violated("G2: a change was executed whose caller was told that it was not");
  }
}

void latch_watch::happened(fault what) {
  if (what == fault::clock_back) set_back_at_ = world_.now();
  if (what != fault::flushed && what != fault::restarted_empty) return;
  emptied_at_ = world_.now();
  became(0);
  for (auto& [request, one] : calls_) {
    one.waits = false;
    one.opened_at.reset();
  }
}

}  // namespace holdfast::simulation::gates
