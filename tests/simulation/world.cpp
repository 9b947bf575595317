#include "simulation/world.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "lease/waiting_times.hpp"
#include "redis/dialects/catalog.hpp"
#include "simulation/client.hpp"
#include "simulation/meddling.hpp"
#include "simulation/telling.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

constexpr nanoseconds fault_phase = 8s;
constexpr std::uint64_t most_clients = 5, most_in_a_crowd = 50;
constexpr microseconds longest_step = 5s;
constexpr nanoseconds long_use = 10s;
constexpr nanoseconds freeze_of_a_row = 200s;

// In the healing phase nobody dies any more, so each waiter is served after all of these before
// it: whoever has the lock keeps it for a lease (3 s; a clock set back makes it last longer) and a
// lock delay, and then for as long as its user wants (3 s) or retains it; and nobody waits for a
// free lock for longer than the last in the queue may stay silent (5 s).
constexpr nanoseconds healing_phase(std::uint64_t clients, nanoseconds longest_use) {
  const nanoseconds each = longest_lease + longest_delay + longest_use + longest_keeping + 5s;
  return each * static_cast<nanoseconds::rep>(clients) + 2 * longest_step;
}

}  // namespace

world::world(const scenario& what)
    : scenario_(what),
      kind_(*what.of),
      dice_(what.seed),
      other_dice_(what.seed ^ 0x6f74686572),
      faults_end_(what.faults ? begin_of_time + fault_phase : begin_of_time),
      short_uses_(dice_.chance(20) ? 20 : 80),
      long_times_(is_harsh() && dice_.chance(15)),
      promises_(kind_, key_, server_, insight()) {
  if (what.history != nullptr) promises_.keep_news();
}

world::~world() = default;

promises::insight world::insight() {
  const auto any_of_them = [this](const auto& is_so) {
    return std::ranges::any_of(clients_, [&](const auto& one) { return is_so(*one); });
  };
  return {.lives =
              [any_of_them](std::string_view request) {
                return any_of_them([&](const client& one) { return one.lives_as(request); });
              },
          .is_calm =
              [any_of_them](std::string_view request) {
                return any_of_them([&](const client& one) { return one.is_calm_as(request); });
              }};
}

nanoseconds world::longest_use() const noexcept {
  return long_times_ ? long_use : nanoseconds{simulation::longest_use};
}

nanoseconds world::longest_freeze() const noexcept { return long_times_ ? long_use : 3s; }

void world::at(monotonic_time when, std::function<void()> what) {
  events_.push(std::max(when, now_), std::move(what));
}

// ---- the server

void world::synchronize() {
  const auto past = std::chrono::floor<microseconds>(now_ - server_at_);
  server_.advance(past);
  server_at_ += past;
}

int world::connect() {
  if (!std::exchange(knows_scripts_, true)) {
    for (const auto& row : dialects::catalog()) {
      if (row.how != kind_.recipe) continue;
      for (const auto* const script : row.scripts) server_.know(*script);
      break;
    }
  }
  return server_.connect();
}

resp::value world::execute(int connection, const std::string& bytes) {
  synchronize();
  ++result_.commands;
  auto reply = server_.execute(connection, bytes);
  if (result_.commands % 16 == 0) {
    result_.most_elements = std::max(result_.most_elements, server_.elements());
  }
  promises_.executed(now_);
  for (auto& one : promises_.take_news()) tell(std::move(one));
  deliver_messages();
  const auto broken = check_telling(
      {bytes, messages_, promises_.new_owners(), promises_.queue_before(), promises_.queue()});
  // Where no token can be drawn, those who wait ask, and are told why not.
  if (!broken.empty() && promises_.can_draw_tokens()) promises_.violated(broken);
  return reply;
}

void world::deliver_messages() {
  messages_.clear();
  for (const int told : server_.take_told()) {
    for (auto& push : server_.take_pushes(told)) {
      messages_.push_back(push.items.at(2).text);
      for (const auto& one : clients_) {
        if (one->connection() == told) one->wire().deliver_push(std::move(push));
      }
    }
  }
}

// Its clock may have been set back, too.
void world::tell_emptied() {
  tell({.what = history::kind::emptied, .until = now_.time_since_epoch(), .note = "clock"});
}

void world::tell(history::event what) {
  if (scenario_.history == nullptr) return;
  what.time = now_.time_since_epoch();
  what.lock = "simulated";
  scenario_.history->push_back(std::move(what));
}

void world::believes(const client& who, const belief& what, bool by_message) {
  ++result_.grants;
  if (by_message) ++result_.handed_over;
  note(what.token);
  check().believed(what, now_);
  std::vector<const belief*> all{&what};
  for (const auto& one : clients_) {
    if (one.get() != &who && one->believes()) all.push_back(&one->believed());
  }
  promises_.believed_together(all);
}

// ---- faults that concern all

void world::plan_faults() {
  if (!scenario_.faults) return;
  const auto some_time = [this] { return begin_of_time + dice_.time_up_to(fault_phase); };
  if (dice_.chance(20)) at(some_time(), [this] { empty_the_server(); });
  for (auto steps = dice_.chance(20) ? 1 + dice_.up_to(1) : 0; steps > 0; --steps) {
    at(some_time(), [this] { set_the_clock(); });
  }
  for (auto times = dice_.chance(25) ? 1 + dice_.up_to(2) : 0; times > 0; --times) {
    at(some_time(), [this] { meddle(); });
  }
  plan_harsh_faults();
  if (kind_.operate == nullptr) return;
  for (auto times = dice_.up_to(4); times > 0; --times) {
    at(some_time(), [this] { operate(); });
  }
  at(faults_end_ + 1ms, [this] { operate(); });
}

void world::plan_harsh_faults() {
  if (!is_harsh()) return;
  const auto some_time = [this] { return begin_of_time + dice_.time_up_to(fault_phase); };
  for (auto times = dice_.chance(30) ? 1 + dice_.up_to(3) : 0; times > 0; --times) {
    at(some_time(), [this] { trouble_a_link(); });
  }
  for (auto times = dice_.chance(25) ? 1 + dice_.up_to(3) : 0; times > 0; --times) {
    at(some_time(), [this] { intrude(dice_.up_to(10)); });
  }
  if (dice_.chance(10)) at(some_time(), [this] { refuse_writes(); });
  if (dice_.chance(10)) at(some_time(), [this] { fail_over(); });
  if (dice_.chance(10)) at(some_time(), [this] { evict(); });
  for (auto times = draw_successions(); times > 0; --times) {
    at(begin_of_time + other_dice_.time_up_to(fault_phase), [this] { fail_over(); });
  }
  if (long_times_ && other_dice_.chance(80)) {
    at(begin_of_time + other_dice_.time_up_to(fault_phase), [this] { freeze_the_first(); });
  }
  plan_neighbours();
}

// The client that waits in front of another which could come in runs no more for long.
void world::freeze_the_first() {
  if (!faults()) return;
  const auto& queue = promises_.queue();
  const bool is_in_the_way =
      queue.size() > 1 && !promises_.fits(queue[0]) && promises_.fits(queue[1]);
  const auto first = std::ranges::find_if(
      clients_, [&](const auto& one) { return is_in_the_way && one->lives_as(queue[0].owner); });
  if (first == clients_.end()) return at(now_ + 20ms, [this] { freeze_the_first(); });
  (*first)->freeze(longest_freeze());
}

void world::freeze_a_row() {
  const auto& queue = promises_.queue();
  if (queue.size() < scenario_.freezes_a_row_of) {
    if (!is_over()) at(now_ + 20ms, [this] { freeze_a_row(); });
    return;
  }
  row_.last = queue.back().owner;
  row_.since = now_;
  for (std::size_t i = 0; i + 1 < queue.size(); ++i) {
    row_.frozen.push_back(queue[i].owner);
    for (const auto& one : clients_) {
      if (one->lives_as(queue[i].owner)) one->stop_for(freeze_of_a_row);
    }
  }
}

// L1: each of the row costs no more than a provisional grant and one that asks then; where several
// may hold the lock, 20 of them cost no more after the first. Before that the last may be silent
// for as long as its place says, unless it is near enough to be told.
void world::look_behind_the_row() {
  const auto& queue = promises_.queue();
  const auto last = std::ranges::find(queue, row_.last, &waiter::owner);
  if (row_.frozen.empty() || last == queue.end()) return;
  const bool others_hold = std::ranges::any_of(promises_.holders(), [&](const holder& one) {
    return std::ranges::find(row_.frozen, one.owner) == row_.frozen.end();
  });
  if (others_hold && !promises_.fits(*last)) row_.since = now_;
  const auto many = row_.frozen.size();
  const bool is_shared = kind_.name != "mutex";
  const auto silent = is_shared && many < 20 ? milliseconds{2s} : leasing::ask_bound(many);
  const auto grants = is_shared ? std::min(many, 3 + many / 20) : many;
  const auto each = substrate::longest_claim + 60ms;
  if (now_ - row_.since > silent + 1s + each * static_cast<milliseconds::rep>(grants)) {
    promises_.violated("L1: those that are frozen cost more than a provisional grant each");
  }
}

void world::trouble_a_link() {
  const auto what = static_cast<trouble>(1 + dice_.up_to(3));
  count(what == trouble::cut    ? fault::link_cut
        : what == trouble::slow ? fault::link_slow
                                : fault::half_link);
  auto& whose = *clients_.at(dice_.up_to(clients_.size() - 1));
  whose.afflict(what, std::min(faults_end_, now_ + dice_.time_up_to(longest_freeze())));
}

void world::refuse_writes() {
  count(fault::refusing);
  const auto why = dice_.up_to(3);
  if (why == 3) {
    damage_the_counter();
  } else {
    server_.refuse_writes(why == 0   ? "OOM command not allowed when used memory > 'maxmemory'."
                          : why == 1 ? "READONLY You can't write against a read only replica."
                                     : "NOREPLICAS Not enough good replicas to write.",
                          why == 0);
  }
  refusing_until_ = std::min(faults_end_ - 1ms, now_ + dice_.time_up_to(2s));
  promises_.refused_writes(refusing_until_);
  for (const auto& one : clients_) one->disturb();
  at(refusing_until_, [this] {
    server_.refuse_writes("");
    mend_the_counter();
    for (const auto& one : clients_) one->disturb();
  });
}

// Somebody writes what is no counter to its key. No token can be drawn then, of any lock in the
// slot; until somebody deletes it, or it was a text.
void world::damage_the_counter() {
  synchronize();
  const std::string counter{key_.fence_key()};
  const bool of_another_type = dice_.chance(70);
  server_.look(std::array<std::string_view, 2>{"DEL", counter});
  if (of_another_type) {
    server_.look(std::array<std::string_view, 4>{"HSET", counter, "not", "a counter"});
  } else {
    server_.look(std::array<std::string_view, 3>{"SET", counter, "not a counter"});
  }
  promises_.counter_damaged(of_another_type, now_);
  // A replica that takes over may have heard of the damage, and not of the end of it.
  at(faults_end_, [this] { mend_the_counter(); });
}

void world::mend_the_counter() {
  synchronize();
  const std::string counter{key_.fence_key()};
  if (server_.look(std::array<std::string_view, 2>{"HLEN", counter}).number > 0) {
    server_.look(std::array<std::string_view, 2>{"DEL", counter});
    promises_.counter_damaged(false, now_);
    for (const auto& one : clients_) one->disturb();
  }
}

// The replica has heard nothing of what was done from now on until it takes over.
void world::fail_over() {
  synchronize();
  const auto when = std::min(faults_end_ - 1ms, now_ + dice_.time_up_to(300ms));
  at(when, [this, copy = server_.copy_of_keys(), heard = promises_.heard(now_)]() mutable {
    count(fault::failed_over);
    synchronize();
    ++masters_;
    const bool leaves = leaves_a_replica();
    if (leaves) {
      leave_behind(std::move(copy));
    } else {
      server_.fail_over(std::move(copy));
      knows_scripts_ = false;
    }
    promises_.failed_over(heard, now_);
    for (const auto& one : clients_) {
      if (!leaves || !one->wire().is_at_replica()) one->break_connection();
    }
    tell_emptied();
    for (const auto& one : clients_) one->disturb();
  });
}

// Any of them; some servers choose by chance.
void world::evict() {
  synchronize();
  count(fault::evicted);
  for (const auto& key : server_.ending_keys()) {
    if (dice_.chance(50)) server_.evict(key);
  }
  tell_emptied();
  promises_.leases_ended(now_);
  promises_.executed(now_);
  for (const auto& one : clients_) one->disturb();
}

void world::intrude(std::uint64_t patience) {
  const auto end = promises_.next_end();
  if (patience > 0 && end && *end < faults_end_) {
    at(std::max(now_, *end) + 1ms + dice_.time_up_to(8ms),
       [this, patience] { intrude(patience - 1); });
    return;
  }
  if (!faults()) return;
  count(fault::intruded);
  const auto by = std::make_shared<const intrusion>(dice_, kind_, key_, ++strangers_);
  execute_for_a_stranger(by->enters(), true, *by);
  const auto until = now_ + dice_.time_up_to(dice_.chance(50) ? 5ms : 500ms);
  at(std::min(faults_end_, until),
     [this, by] { execute_for_a_stranger(by->leaves(1), false, *by); });
  // The first may have been refused, or forgotten.
  at(faults_end_, [this, by] {
    execute_for_a_stranger(by->leaves(2), false, *by);
    execute_for_a_stranger(intrusion::clears(key_), false, *by);
  });
}

// Checked from what was there before: who holds the lock then, and who waits and is well.
void world::execute_for_a_stranger(const std::string& bytes, bool enters, const intrusion& by) {
  synchronize();
  promises_.executed(now_);
  std::vector<std::string> waiting;
  for (const auto& one : promises_.queue()) {
    // The lease that it wants to change may have ended, or there are too few permits: it leaves the
    // queue whichever request looks at it.
    if (!one.replaces.empty() || !promises_.can_be_served(one)) continue;
    // Nor where a message was lost: it may have been asked whether it lives, and whoever looks when
    // the time for that is over takes it out.
    const bool stays = std::ranges::any_of(clients_, [&](auto& c) {
      return c->is_calm_as(one.owner) && c->wire().lost_push_at() < c->stands_at()->asked_at;
    });
    if (stays) waiting.push_back(one.owner);
  }
  // Strangers of one kind go together.
  const bool is_taken =
      !waiting.empty() || std::ranges::any_of(promises_.holders(), [](const auto& one) {
        return !intrusion::is_by_a_stranger(one.owner);
      });
  const int connection = connect();
  const auto answer = execute(connection, bytes);
  server_.disconnect(connection);
  if (enters && is_taken && by.came_in(answer)) {
    promises_.violated("K: a name was given to another kind while it was in use");
  }
  for (const auto& one : waiting) {
    if (std::ranges::find(promises_.queue(), one, &waiter::owner) != promises_.queue().end()) {
      continue;
    }
    if (std::ranges::find(promises_.holders(), one, &holder::owner) == promises_.holders().end()) {
      promises_.violated("K: one of another kind has put somebody out of the queue");
    }
  }
}

void world::empty_the_server() {
  synchronize();
  if (dice_.chance(50)) {
    count(fault::flushed);
    server_.flush_all();
  } else {
    count(fault::restarted_empty);
    server_.restart_empty();
    ++masters_;
    knows_scripts_ = false;
    for (const auto& one : clients_) one->break_connection();
  }
  tell_emptied();
  promises_.emptied(now_);
  for (const auto& one : clients_) one->disturb();
}

void world::operate() {
  const int connection = connect();
  const auto answer = execute(connection, kind_.operate(dice_, key_, faults()));
  if (answer.is(resp::type::integer) && answer.number == 0) promises_.gave_back(now_);
  server_.disconnect(connection);
}

void world::meddle() {
  count(fault::meddled_with);
  const auto what = draw_meddling(dice_, kind_, key_);
  const int connection = connect();
  (void)execute(connection, what.command);
  server_.disconnect(connection);
  if (what.loses_counter) promises_.counter_damaged(false, now_);
  if (what.ends_leases) {
    tell_emptied();
    promises_.leases_ended(now_);
  }
  for (const auto& one : clients_) one->disturb();
}

void world::set_the_clock() {
  synchronize();
  const bool forward = dice_.chance(50);
  const auto size = std::chrono::floor<microseconds>(dice_.time_up_to(longest_step));
  count(forward ? fault::clock_forward : fault::clock_back);
  server_.step_clock(forward ? size : -size);
  // Leases have ended, perhaps: as if they were forgotten.
  if (forward) tell_emptied();
  promises_.clock_set(now_, forward ? size : -size);
  for (const auto& one : clients_) one->disturb();
}

// ---- a run

bool world::is_over() const {
  const bool ends = !promises_.violation().empty() && scenario_.history == nullptr;
  if (ends || events_.empty()) return true;
  // What was said of the lock is unsaid then: see plan_faults.
  const auto ends_after = kind_.operate == nullptr ? faults_end_ : faults_end_ + 1ms;
  return now_ >= ends_after &&
         std::ranges::all_of(clients_, [](const auto& one) { return one->rests(); });
}

void world::step() {
  const auto next = events_.pop();
  now_ = next.when;
  ++result_.events;
  note(static_cast<std::uint64_t>(now_.time_since_epoch().count()));
  next.what();
  if (scenario_.cancel && scenario_.cancel->after == result_.events) {
    clients_.at(scenario_.cancel->client)->cancel();
  }
  look_behind_the_row();
  for (const auto& one : clients_) {
    if (const auto& where = one->stands_at()) promises_.waits(*where, now_);
    if (const auto& since = one->keeps_since()) promises_.kept(*since, now_);
  }
}

void world::finish() {
  for (const auto& one : clients_) {
    if (!one->rests()) promises_.violated("L2: " + one->name() + " was never served");
  }
  if (promises_.violation().empty()) {
    synchronize();
    server_.advance(longest_lease + longest_delay + 2 * longest_step);
    promises_.all_left(now_);
  }
  result_.contended = promises_.contended();
  result_.lasted = now_ - begin_of_time;
  if (promises_.violation().empty()) return;
  const auto ms = std::chrono::floor<milliseconds>(now_ - begin_of_time).count();
  result_.violation = promises_.violation() + ", at " + std::to_string(ms) + " ms";
}

std::uint64_t world::draw_clients() {
  if (scenario_.clients != 0) return scenario_.clients;
  if (is_harsh() && dice_.chance(1))
    return most_clients + dice_.up_to(most_in_a_crowd - most_clients);
  return 2 + dice_.up_to(most_clients - 2);
}

// Each script has a form for nodes of a cluster, also those of operators and strangers.
void world::join_a_cluster() {
  server_.join_a_cluster(dice_.chance(70));
  for (const auto& row : dialects::catalog()) {
    for (const auto* const script : row.scripts) server_.know(*script);
  }
  for (const auto* const script : dialects::operator_scripts()) server_.know(*script);
}

outcome world::run() {
  if (is_harsh() && dice_.chance(20)) join_a_cluster();

  const auto count = draw_clients();
  for (std::uint64_t i = 0; i < count; ++i) {
    clients_.push_back(std::make_unique<client>(*this, static_cast<std::uint16_t>(i)));
    at(begin_of_time + dice_.time_up_to(50ms), [one = clients_.back().get()] { one->begin(); });
  }
  plan_faults();
  auto end = faults_end_ + healing_phase(std::max(count, most_clients), longest_use());
  if (scenario_.freezes_a_row_of > 0) {
    at(begin_of_time, [this] { freeze_a_row(); });
    end += freeze_of_a_row;
  }
  while (!is_over() && events_.next_due() <= end) step();
  finish();
  return result_;
}

outcome simulate(const scenario& what) { return world{what}.run(); }

}  // namespace holdfast::simulation
