#include "simulation/change_watch.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "simulation/gate_world.hpp"

namespace holdfast::simulation::gates {

std::string change_watch::text_at(const std::string& key) const {
  return world_.server().look(std::array<std::string_view, 2>{"GET", key}).text;
}

void change_watch::executed(const std::string& request, const resp::value& reply) {
  const auto verdict = dialects::read_once(reply);
  const auto after = look();
  const auto* const answer = std::get_if<substrate::once_answer>(&verdict);
  const bool undone = answer == nullptr || is_undone(request, *answer);
  const auto earlier = effects_.find(request);
  const bool was_done = earlier != effects_.end();
  const bool excused =
      was_done && earlier->second.at <= std::max({emptied_at_, answers_lost_at_, set_back_at_});
  const bool is_copy = was_done && (!excused || after == before_);
  if (undone || is_copy) {
    ++world_.result().copies;
    if (after != before_) world_.violated("O1: a copy of " + request + " counts once more");
  }
  if (undone || (is_copy && excused)) return;
  if (is_copy) {
    if (answer->word != earlier->second.word || answer->rest != earlier->second.rest) {
      world_.violated("O1: a copy is answered otherwise than the first");
    }
    return;
  }
  if (over_.contains(request) && !was_done && !was_set_back()) {
    world_.violated("O2: a change was executed after its caller was told how it ended");
  }
  effects_.insert_or_assign(request, effect{answer->word, answer->rest, world_.now()});
  done(request, *answer, after);
}

void change_watch::ended(const std::string& request, const leasing::once_machine::end& how) {
  over_.insert(request);
  const bool was_done = effects_.contains(request);
  if (const auto* const failed = std::get_if<leasing::outcome>(&how)) {
    const bool doubtful = failed->detail.find("may have been executed") != std::string::npos;
    if (was_done && !doubtful) {
      world_.violated("O2: a change was executed whose caller was told that it was not");
    }
  } else if (!was_done && !is_undone(request, std::get<substrate::once_answer>(how))) {
    world_.violated("O2: what was answered was never done");
  }
}

void change_watch::happened(fault what) {
  if (what == fault::clock_back) set_back_at_ = world_.now();
  if (what == fault::evicted) answers_lost_at_ = world_.now();
  if (what == fault::flushed || what == fault::restarted_empty) emptied_at_ = world_.now();
}

}  // namespace holdfast::simulation::gates
