// Time and members of a run, what goes wrong, and the run.
#include "simulation/quorum_world.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::simulation {
namespace quorum {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_candidates = 4;
constexpr nanoseconds fault_phase = 6s;
// Votes that were left behind run out, members that stay out come back; then each of the others'
// uses, and the silence of who waits.
constexpr nanoseconds healing_phase = 2 * longest_lease + most_candidates * (longest_lease + 5s);
constexpr nanoseconds life_of_lists = 60s;
constexpr nanoseconds longest_freeze = 1s;
// Until it is noticed that a release was not answered, the longest pause before the next, and until
// that is answered.
constexpr nanoseconds time_to_leave = 2 * response_timeout + 500ms + 50ms;
// What clocks are set by stays within a day, beyond which a member refuses tokens of others.
constexpr nanoseconds longest_step = 3h;
constexpr int most_steps = 3;
// In millionths: all that is allowed for.
constexpr std::int64_t most_drift = 10'000;

}  // namespace

assembly::assembly(std::uint64_t seed, bool calm)
    : dice_(seed),
      other_dice_(seed ^ 0x6f74686572),
      calm_(calm),
      links_are_bad_(!calm && dice_.chance(50)),
      clocks_(calm || !dice_.chance(25) ? clocks::none
              : dice_.chance(50)        ? clocks::of_few
                                        : clocks::of_all),
      drifts_(calm || other_dice_.chance(50) ? drifts::clients
              : other_dice_.chance(50)       ? drifts::members
                                             : drifts::both),
      faults_end_(begin + (calm ? 0s : fault_phase)) {
  const std::size_t size = links_are_bad_ && dice_.chance(50) ? 3 : 3 + dice_.up_to(2);
  for (std::size_t i = 0; i < size; ++i) {
    // Those that may lose their memory are behind no other by more than the longest lease: with
    // their clocks they begin again to count.
    const bool may_forget = clocks_ != clocks::of_all && i < (size - 1) / 2;
    const auto ahead = may_forget ? 1h + dice_.time_up_to(longest_lease / 2) : dice_.time_up_to(1h);
    const auto part = std::chrono::floor<microseconds>(ahead);
    members_.push_back(
        std::make_unique<member>(std::chrono::hours{24} * 365 * 50 + part, draw_drift_of_member()));
    names_.push_back("member " + std::to_string(i));
  }
}

assembly::~assembly() = default;

// Half of the clocks are as fast or as slow as may be.
std::int64_t assembly::draw_drift_of_member() {
  if (drifts_ == drifts::clients) return 0;
  const auto most = drifts_ == drifts::both ? most_drift / 2 : most_drift;
  const auto drawn = static_cast<std::int64_t>(other_dice_.up_to(4 * most_drift));
  return std::clamp(drawn - 2 * most_drift, -most, most);
}

// ---- the members

simulated_server& assembly::server(std::size_t i) {
  member& of = *members_[i];
  const auto past = std::chrono::floor<microseconds>(of.clock.local(now()) - of.at);
  of.server.advance(past);
  of.at += past;
  return of.server;
}

resp::value assembly::execute(std::size_t i, int connection, const std::string& bytes) {
  auto& at_work = server(i);
  const auto before = links_are_bad_ ? vote_of(i) : std::string{};
  auto reply = at_work.execute(connection, bytes);
  if (links_are_bad_ && faults()) {
    const auto after = vote_of(i);
    if (!after.empty() && after != before) forget_soon(i, after);
  }
  // Where clocks go back, what should be too late is not.
  const auto returned = returns_.find(vote_of(i));
  if (returned != returns_.end() && returned->second == 0 && clocks_ != clocks::of_all) {
    violated("A2: a vote for nobody is given by " + names_[i]);
  }
  for (const int told : at_work.take_told()) {
    for (auto& push : at_work.take_pushes(told)) {
      if (faults() && dice_.chance(10)) continue;
      at(now() + one_way, [this, i, told, push = std::move(push)] {
        for (const auto& one : candidates_) {
          if (one->connection(i) == told && one->hears(i)) one->heard(push);
        }
      });
    }
  }
  return reply;
}

std::string assembly::vote_of(std::size_t i) {
  const auto name = dialects::quorum_value_key(key_);
  const std::array<std::string_view, 2> words{"GET", name};
  const auto value = server(i).look(words);
  return value.is_text() ? value.text.substr(value.text.rfind(':') + 1) : std::string{};
}

milliseconds assembly::vote_ends_in(std::size_t i) {
  const auto name = dialects::quorum_value_key(key_);
  const std::array<std::string_view, 2> words{"PTTL", name};
  return milliseconds{std::max<std::int64_t>(server(i).look(words).number, 0)};
}

// If a clock is set forward meanwhile, a vote may be gone before the others of its majority are
// there: of two who asked at the same time the later to get the lock may have the smaller token.
void assembly::granted(substrate::token_major token, substrate::token_major before_it_asked,
                       monotonic_time asked_at) {
  const auto below = set_forward_ >= asked_at ? before_it_asked : last_token();
  if (token <= below) violated("S2: a token is not above the last one");
  if (!tokens_.insert(token).second) violated("S2: a token is given out twice");
  ++result_.grants;
}

// ---- what goes wrong

void assembly::restart(std::size_t i, bool empty) {
  if (empty) server(i).restart_empty();  // first: who is told comes back at once
  for (const auto& one : candidates_) one->break_off(i);
}

void assembly::set_clock(std::size_t i, microseconds by) {
  server(i).step_clock(by);
  auto& of = *members_[i];
  of.set += by;
  of.furthest = std::max(of.furthest, of.set);
  if (by > 0us) set_forward_ = now();
}

// A member that has not seen the hash slot is like one that has lost its memory.
std::size_t assembly::blank_members() {
  const std::string counter = dialects::quorum_fence_key(key_);
  const std::array<std::string_view, 2> words{"EXISTS", counter};
  std::size_t blank = 0;
  for (std::size_t i = 0; i < size(); ++i) blank += server(i).look(words).number == 0 ? 1 : 0;
  return blank;
}

// Connections and freezing may hit anyone. Memory only the first of the members, and only while
// fewer than half have none: the promise is for those.
void assembly::plan_faults() {
  const auto plan = [&](std::uint64_t percent, auto what) {
    if (!dice_.chance(percent)) return;
    at(begin + dice_.time_up_to(fault_phase), [this, what] {
      ++result_.harms;
      what();
    });
  };
  for (std::size_t i = 0; i < size(); ++i) {
    plan(40, [this, i] { members_[i]->frozen_until = now() + dice_.time_up_to(longest_freeze); });
    plan(30, [this, i] { restart(i, false); });
  }
  const std::size_t weak = (size() - 1) / 2;
  for (std::size_t i = 0; i < weak && clocks_ != clocks::of_all; ++i) {
    plan(40, [this, i, weak] { restart(i, blank_members() < weak); });
    if (clocks_ == clocks::none) continue;
    const nanoseconds longest = weak > 1 ? longest_lease / 2 : 10s;
    plan(80, [this, i, longest] {
      set_clock(i, std::chrono::floor<microseconds>(dice_.time_up_to(longest)));
    });
  }
  for (std::size_t i = 0; i < size() && clocks_ == clocks::of_all; ++i) {
    for (int step = 0; step < most_steps; ++step) {
      plan(60, [this, i] {
        const auto by = std::chrono::floor<microseconds>(dice_.time_up_to(longest_step));
        set_clock(i, dice_.chance(50) ? by : -by);
      });
    }
    // A clock that went back makes votes last so much longer; it is put right at last.
    at(faults_end_, [this, i] { set_clock(i, members_[i]->furthest - members_[i]->set); });
  }
}

// ---- the run

void assembly::check_beliefs() {
  // Votes that a clock has ended are counted on for the rest of their leases.
  if (now() < set_forward_ + longest_lease) return;
  const wish* has = nullptr;
  for (const auto& one : candidates_) {
    if (one->wanted() == nullptr || !one->wanted()->believes()) continue;
    if (has != nullptr) violated("S1: two hold the lock");
    has = one->wanted();
  }
  if (has == nullptr) return;
  const std::string owner{has->owner().text()};
  std::size_t votes = 0;
  for (std::size_t i = 0; i < size(); ++i) votes += vote_of(i) == owner ? 1 : 0;
  const bool spared = votes + (size() - 1) / 2 >= leasing::majority_of(size());
  if (!spared) violated("S3: whoever holds the lock has " + std::to_string(votes) + " votes");
}

// A client that has left has taken its votes back, also those that came late; a killed one has not.
void assembly::check_votes_left() {
  const auto rested = now();
  for (std::size_t i = 0; i < size(); ++i) {
    at(std::max(rested, awake_at(i)) + time_to_leave, [this, i] {
      const auto owner = vote_of(i);
      const auto client = owner.substr(0, 32);
      if (!owner.empty() && !killed_.contains(client)) {
        violated("A2: a vote for nobody is left at " + names_[i]);
      }
    });
  }
  run_on(longest_freeze + time_to_leave);
}

void assembly::check_nothing_left() {
  pass(longest_lease + life_of_lists + 1s);
  for (std::size_t i = 0; i < size(); ++i) {
    if (!vote_of(i).empty()) violated("L: a vote is left at " + names_[i]);
    const auto list = dialects::quorum_value_key(key_) + ":w";
    const std::array<std::string_view, 2> words{"EXISTS", list};
    if (server(i).look(words).number != 0) violated("L: a list is left at " + names_[i]);
  }
}

quorum_outcome assembly::run() {
  const auto count = 2 + dice_.up_to(most_candidates - 2);
  for (std::uint64_t i = 0; i < count; ++i) {
    candidates_.push_back(std::make_unique<candidate>(*this, static_cast<std::uint8_t>(i + 1)));
    at(now() + dice_.time_up_to(50ms), [one = candidates_.back().get()] { one->begin(); });
  }
  if (!calm_) plan_faults();
  if (links_are_bad_) plan_links();
  timeline::run(candidates_, faults_end_, faults_end_ + healing_phase, [this] { check_beliefs(); });
  if (violation().empty()) check_votes_left();
  if (violation().empty()) check_nothing_left();
  result_.violation = violation();
  result_.trace = trace();
  return result_;
}

}  // namespace quorum

quorum_outcome simulate_quorum(std::uint64_t seed, bool calm) {
  return quorum::assembly{seed, calm}.run();
}

}  // namespace holdfast::simulation
