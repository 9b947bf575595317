// The connections of a client to the members of a quorum, and what the network does to them.
#include <algorithm>
#include <utility>

#include "redis/dialects/catalog.hpp"
#include "simulation/greeting.hpp"
#include "simulation/quorum_world.hpp"

namespace holdfast::simulation::quorum {

using namespace std::chrono_literals;

void wire::connect() {
  if (connection_ >= 0 || weather_.refuses || where_.now() < weather_.requests_held_until ||
      where_.now() < weather_.answers_held_until) {
    return;
  }
  connection_ = where_.server(at_).connect();
  last_arrival_ = last_reply_ = {};
  for (const auto& row : dialects::catalog()) {
    for (const auto* const script : row.scripts) where_.server(at_).know(*script);
  }
  const auto execute = [&](auto& bytes) { return where_.execute(at_, connection_, bytes); };
  simulation::subscribe(whose_.id(), execute);
  whose_.learn(at_, whose_.now(), ask_time(execute));
}

void wire::send(std::string bytes, heard tell) {
  connect();
  if (connection_ < 0) {
    // Refused at once, or nobody answers.
    const auto known = where_.now() + (weather_.refuses ? one_way : response_timeout);
    return whose_.later(known, [sent_at = whose_.now(), tell = std::move(tell)] {
      tell(nullptr, sent_at, no_answer::not_sent);
    });
  }
  const auto number = ++asked_;
  open_.push_back({number, whose_.now(), std::move(tell)});
  const auto leaves = std::max(where_.now(), weather_.requests_held_until);
  last_arrival_ = std::max(last_arrival_, leaves + trip() + spite());
  where_.at(last_arrival_, [this, number, bytes = std::move(bytes), by = connection_] {
    arrive(bytes, number, by);
  });
  whose_.later(where_.now() + response_timeout, [this, number] {
    const bool is_open =
        std::ranges::any_of(open_, [&](const question& one) { return one.number == number; });
    if (is_open) break_off();
  });
}

void wire::arrive(const std::string& bytes, std::uint64_t number, int connection) {
  if (where_.awake_at(at_) > where_.now()) {
    where_.at(where_.awake_at(at_),
              [this, bytes, number, connection] { arrive(bytes, number, connection); });
    return;
  }
  if (connection != connection_) return arrive_late(bytes);
  const auto reply = where_.execute(at_, connection, bytes);
  const auto leaves = std::max(where_.now(), weather_.answers_held_until);
  last_reply_ = std::max(last_reply_, leaves + trip());
  where_.at(last_reply_, [this, number, reply, connection] {
    if (connection == connection_) answered(number, reply);
  });
}

// Requests sent before the connection broke may still be executed, also after those sent over the
// next one. Nobody reads the answers.
void wire::arrive_late(const std::string& bytes) {
  auto& dice = where_.chance();
  if (dice.chance(50)) return;
  const auto late = where_.now() + dice.time_up_to(response_timeout);
  where_.at(std::max(late, where_.awake_at(at_)),
            [this, bytes] { where_.execute(at_, where_.server(at_).connect(), bytes); });
}

void wire::answered(std::uint64_t number, const resp::value& reply) {
  const auto found = std::ranges::find(open_, number, &question::number);
  if (found == open_.end()) return;
  const auto asked = std::move(*found);
  open_.erase(found);
  asked.tell(&reply, asked.sent_at, {});
}

nanoseconds wire::trip() {
  auto& dice = where_.chance();
  return dice.time_up_to(one_way) + dice.time_up_to(weather_.slow_by);
}

// The worst moment to arrive is when the vote for another has just run out, which it counted on
// until now: a network that knows would be so slow.
nanoseconds wire::spite() {
  if (!where_.are_links_bad() || !where_.faults() || !where_.chance().chance(50)) return {};
  const auto left = where_.vote_ends_in(at_);
  return left < response_timeout ? left + where_.chance().time_up_to(one_way) : nanoseconds{};
}

void wire::set(const weather& now) {
  weather_ = now;
  if (weather_.refuses) break_off();
}

bool wire::delivers() const noexcept { return where_.now() >= weather_.answers_held_until; }

void wire::break_off() {
  if (connection_ < 0) return;
  where_.server(at_).disconnect(std::exchange(connection_, -1));
  for (const auto& one : std::exchange(open_, {})) {
    one.tell(nullptr, one.sent_at, no_answer::unknown);
  }
}

void wire::forget() noexcept {
  open_.clear();
  if (connection_ >= 0) where_.server(at_).disconnect(std::exchange(connection_, -1));
}

// ---- what goes wrong with links ----------------------------------------------------------------

// Each link has a weather of its own that changes again and again, beside good times.
void assembly::plan_links() {
  for (const auto& one : candidates_) {
    for (std::size_t i = 0; i < size(); ++i) plan_weather(*one, i, now() + dice_.time_up_to(1s));
  }
}

void assembly::plan_weather(candidate& of, std::size_t i, monotonic_time from) {
  at(from, [this, &of, i] {
    if (!faults()) return of.to(i).set({});
    const auto until = std::min(now() + dice_.time_up_to(1500ms), faults_end_);
    weather next;
    switch (dice_.up_to(8)) {
      case 0:
        next.refuses = true;
        break;
      case 1:
        next.requests_held_until = next.answers_held_until = until;
        break;
      case 2:
        next.requests_held_until = until;
        break;
      case 3:
        next.answers_held_until = until;
        break;
      case 4:
      case 5:
        next.slow_by = dice_.time_up_to(response_timeout);
        break;
      default:
        break;
    }
    ++result_.harms;
    of.to(i).set(next);
    plan_weather(of, i, until);
  });
}

bool assembly::somebody_else_believes(const std::string& than) const {
  return std::ranges::any_of(candidates_, [&](const auto& one) {
    const auto* const has = one->wanted();
    return has != nullptr && has->believes() && std::string{has->owner().text()} != than;
  });
}

// The worst moment to forget a vote is while its client counts on it, and another client on others.
void assembly::forget_soon(std::size_t i, const std::string& voted_for) {
  const std::size_t weak = (size() - 1) / 2;
  if (i >= weak || clocks_ == clocks::of_all) return;
  if (!dice_.chance(somebody_else_believes(voted_for) ? 30 : 2)) return;
  at(now() + dice_.time_up_to(dice_.chance(50) ? response_timeout : 20ms), [this, i, weak] {
    if (!faults() || blank_members() >= weak) return;
    ++result_.harms;
    if (dice_.chance(50)) return server(i).flush_all();
    restart(i, true);
  });
}

void candidate::cut_off_for(std::size_t i, nanoseconds time) {
  wires_[i].set({.refuses = true});
  assembly_.at(assembly_.now() + time, [this, i] { wires_[i].set({}); });
}

// One member is out of reach when it asks; when it has the lock, another one instead: so its
// majority becomes another, vote by vote.
void candidate::lose_touch_with_one() {
  auto& dice = assembly_.chance();
  lost_.reset();
  if (!assembly_.are_links_bad() || !assembly_.faults() || !dice.chance(30)) return;
  lost_ = dice.chance(50) ? 0 : dice.up_to(wires_.size() - 1);  // the first may forget
  cut_off_for(*lost_, dice.time_up_to(longest_lease));
}

void candidate::lose_touch_with_another(milliseconds lease) {
  auto& dice = assembly_.chance();
  if (!lost_ || !assembly_.faults() || !dice.chance(60)) return;
  const auto next = (*lost_ + 1 + dice.up_to(wires_.size() - 2)) % wires_.size();
  // Found again shortly before the vote of the other one runs out, or sooner: then it votes for it
  // before another client asks.
  const auto before_its_end = dice.time_up_to(dice.chance(50) ? lease : response_timeout);
  cut_off_for(*lost_, std::max(nanoseconds(lease) - before_its_end, nanoseconds{0}));
  cut_off_for(next, nanoseconds(lease) + dice.time_up_to(lease / 2));
}

}  // namespace holdfast::simulation::quorum
