// A client that wants the lock of a quorum.
#include <algorithm>
#include <utility>

#include "redis/dialects/catalog.hpp"
#include "redis/dialects/holdfast/waiting.hpp"
#include "simulation/greeting.hpp"
#include "simulation/quorum_world.hpp"

namespace holdfast::simulation::quorum {

using namespace std::chrono_literals;

// ---- the candidate -----------------------------------------------------------------------------

candidate::candidate(assembly& of, std::uint8_t number)
    : assembly_(of),
      number_(number),
      clock_(timeline::begin,
             of.drift_of_client(static_cast<std::int64_t>(of.chance().up_to(20'000)) - 10'000)),
      id_{client_id{{number}}},
      server_clocks_(of.size()),
      floors_(of.size()) {
  for (std::size_t i = 0; i < of.size(); ++i) wires_.emplace_back(of, *this, i);
}

void candidate::later(monotonic_time when, std::function<void()> what) {
  assembly_.at(when, [this, life = life_, what = std::move(what)] {
    if (life == life_) what();
  });
}

// As a session: it has asked for the time before anything else is written.
server_time candidate::not_after(std::size_t i) {
  wires_[i].connect();
  return leasing::not_after({now(), server_clocks_[i].estimate(now())}, response_timeout);
}

void candidate::learn(std::size_t i, monotonic_time sent_at, server_time said) {
  server_clocks_[i].sample(sent_at, now(), said);
}

void candidate::learn_if_late(std::size_t i, monotonic_time sent_at, const resp::value& reply) {
  const bool is_late = reply.is(resp::type::array) && reply.items.size() == 2 &&
                       reply.items[0].is_text() && reply.items[0].text == "late";
  if (is_late) learn(i, sent_at, server_time{microseconds{reply.items[1].number}});
}

void candidate::raise_floors(substrate::token_major token) {
  for (auto& floor : floors_) floor = std::max(floor, token);
}

void candidate::begin() {
  auto& dice = assembly_.chance();
  ++turn_;
  began_ = assembly_.now();
  plan_mishaps();
  const auto lease = assembly_.is_calm()
                         ? longest_lease
                         : 200ms + milliseconds(dice.up_to(longest_lease.count() - 200));
  const bool patient = !assembly_.faults() || dice.chance(80);
  const bool renews = !assembly_.are_links_bad() || dice.chance(80);
  const bool waits = !assembly_.are_links_bad() || !assembly_.faults() || dice.chance(50);
  const auto until = patient ? monotonic_time::max() : now() + dice.time_up_to(2s);
  wish_ = std::make_shared<wish>(*this, lease, renews,
                                 leasing::patience{.waits = waits, .give_up_at = until});
  lose_touch_with_one();
  wish_->start();
}

void candidate::got() {
  auto& dice = assembly_.chance();
  const auto waited = assembly_.now() - began_;
  if (assembly_.is_calm() && waited > 1s) {
    const auto ms = std::chrono::floor<milliseconds>(waited).count();
    assembly_.violated("L: one has waited for " + std::to_string(ms) + " ms");
  }
  holds_ = true;
  ++served_;
  lose_touch_with_another(wish_->lease());
  // Also so long that votes run out which a broken link does not let it renew.
  const nanoseconds longest = assembly_.is_calm()                            ? 5ms
                              : assembly_.are_links_bad() && dice.chance(40) ? 3s
                              : dice.chance(80)                              ? 5ms
                                                                             : 1s;
  const auto time =
      dice.time_up_to(assembly_.faults() ? longest : std::min<nanoseconds>(longest, 1s));
  later(assembly_.now() + time, [this, mine = turn_] {
    if (mine == turn_ && holds_) leave();
  });
}

void candidate::failed() { leave(); }

void candidate::lost() {
  ++assembly_.result().losses;
  if (holds_) leave();
}

void candidate::leave() {
  holds_ = false;
  const auto ended = std::exchange(wish_, nullptr);
  ended->stop();
  ended->give_back();
  rest();
}

void candidate::rest() {
  const int enough = assembly_.is_calm() ? 20 : 1;
  if (assembly_.faults()) served_ = 0;
  rests_ = served_ >= enough && !assembly_.faults();
  if (rests_) return;
  later(assembly_.now() + assembly_.chance().time_up_to(20ms), [this, mine = turn_] {
    if (mine == turn_) begin();
  });
}

void candidate::plan_mishaps() {
  auto& dice = assembly_.chance();
  if (!assembly_.faults()) return;
  const auto plan = [&](std::uint64_t percent, nanoseconds within, auto what) {
    if (!dice.chance(percent)) return;
    later(assembly_.now() + dice.time_up_to(within), [this, mine = turn_, what] {
      if (mine != turn_ || !assembly_.faults()) return;
      ++assembly_.result().harms;
      what();
    });
  };
  plan(10, 500ms, [this] {
    if (wish_) leave();
  });
  plan(20, 500ms, [this] { break_off(assembly_.chance().up_to(assembly_.size() - 1)); });
  plan(5, 1s, [this] { crash(); });
}

// A new process takes its place, which knows nothing of it.
void candidate::crash() {
  for (auto& one : wires_) one.forget();
  assembly_.killed(id_);
  ++life_;
  ++turn_;
  wish_.reset();
  holds_ = false;
  served_ = 0;
  server_clocks_.assign(assembly_.size(), {});
  floors_.assign(assembly_.size(), 0);
  id_ = client_id{{number_, static_cast<std::uint8_t>(life_)}};
  later(assembly_.now() + assembly_.chance().time_up_to(1s), [this] { begin(); });
}

void candidate::heard(const resp::value& push) {
  const auto said = dialects::read_message(key_space{}, id_, push.items.at(2).text);
  const auto* const free = said ? std::get_if<dialects::freed>(&*said) : nullptr;
  if (free != nullptr && wish_ && wish_->hears(free->request)) wish_->hint();
}

}  // namespace holdfast::simulation::quorum
