#include "redis/connection/pipeline.hpp"

#include "base/uncancelled.hpp"
#include "net/clock.hpp"
#include "net/socket.hpp"

namespace holdfast::redis {
namespace {

// So long a reader may be deaf to all but the socket.
constexpr milliseconds moment{1};

}  // namespace

pipeline::pipeline(const net::event_source& owner, const session_settings& session,
                   const connection_tuning& figures, net::background_thread& background)
    : settings(session),
      tuning(figures),
      helper(background),
      where(settings.is_known),
      pauses(settings.asks_slots),
      role(tuning.calm),
      silence(tuning.ping_after),
      home_(owner) {}

void pipeline::submit(request& first, request* second, delivery how) noexcept {
  bool wake = true;
  {
    const scoped_mutex lock(guard);
    how = reachable(first, how);
    if (second != nullptr) how = reachable(*second, how);
    first.set_how(how);
    if (second != nullptr) second->set_how(how);
    if (!is_up() || !out.try_add(first, second, net::now())) {
      pending.push(first);
      if (second != nullptr) pending.push(*second);
    } else {
      in_flight.push(first);
      if (second != nullptr) in_flight.push(*second);
      // Its thread may compute for long before it is back here.
      const net::waiter* const sleeper = first.sleeper();
      const bool may_lie = how == delivery::driven && sleeper != nullptr && sleeper->is_executor();
      wake = attract_reader(how);
      if (may_lie) look_within(tuning.patience);
    }
  }
  if (wake) helper.wake();
}

// A thread that drives another connection neither sends nor reads here. Asked under `guard`, since
// a waiter moves home first, and is forgotten under it then: either the new home is seen here, or
// the request is found there.
delivery pipeline::reachable(request& r, delivery how) const noexcept {
  if (r.sleeper() == nullptr || r.sleeper()->home() == &home_) return how;
  r.set_sleeper(nullptr);
  return how == delivery::driven ? delivery::prompt : how;
}

bool pipeline::nothing_to_read() const { return in_flight.empty() && role.nobody_listens(); }

bool pipeline::answers_lie() const { return is_up() && role.is_free() && !in_flight.empty(); }

reading_role::load pipeline::load(std::size_t answered, std::size_t crowd) const {
  return {in_flight, answered, crowd};
}

bool pipeline::take_role(net::waiter& w) { return role.take(w, is_up() && !nothing_to_read()); }

bool pipeline::pass_role(const net::waiter& leader, std::size_t answered, std::size_t crowd) {
  role.pass_on(leader, load(answered, crowd));
  if (role.is_free() && !in_flight.empty()) look_within(tuning.grace);
  return role.is_in_background();
}

// It keeps the role also where all may lie, but it has not `heard` anything: somebody must notice
// when a server is silent for too long.
bool pipeline::stop_reading_in_background(bool heard) {
  if (!out.empty() || (!in_flight.empty() && !heard)) return false;
  const auto time = may_all_lie();
  if (!time) return false;
  if (role.offer_to_listener(nullptr)) return true;
  if (!role.nobody_listens()) return false;
  role.give_up();
  unread.cancel();  // of the answers that have been read now
  if (!in_flight.empty()) look_within(*time);
  return true;
}

void pipeline::enqueue(request& r, monotonic_time now) {
  out.add(r, now);
  in_flight.push(r);
}

void pipeline::enqueue_pending(monotonic_time now) {
  for (auto waiting = pending.take(); !waiting.empty();) enqueue(*waiting.pop(), now);
}

bool pipeline::attract_reader(delivery how) {
  if (role.is_in_background()) {
    // It also sends, and all gathered commands in one go. But the server shall not be idle until
    // all of a crowd have asked.
    if (out.commands() >= 2 && 3 * out.commands() >= in_flight.size()) flush();
    return true;
  }
  if (how == delivery::driven) return false;
  const bool wake = flush();
  if (!role.is_free() || !is_up()) return wake;
  if (how == delivery::watched || how == delivery::lazy) {
    const bool may_lie_longer = how == delivery::watched;
    look_within(may_lie_longer ? settings.response_timeout / 2 : tuning.grace);
    return wake;
  }
  role.take_in_background();
  return true;
}

// Other threads are busy here too: letting them run once brings more commands into one write. Not
// where most of them wait for a message: a command would lie until that has come. Nor where nobody
// waits for the other requests under way, such as the release before, or votes.
bool pipeline::lets_others_add() const {
  const bool others_are_busy = in_flight.awaited() > 0 &&
                               in_flight.size() > 1 + role.listening_threads() &&
                               !in_flight.awaits_only_the_last();
  return others_are_busy && !role.is_in_background();
}

bool pipeline::flush() {
  if (!out.can_be_sent()) return false;
  const uncancelled meanwhile;
  const auto outcome = out.send(over, guard, lets_others_add());
  if (outcome == link::outcome::closed) hang_up();
  return outcome != link::outcome::data;
}

void pipeline::look_within(microseconds time) {
  const auto at = net::now() + time;
  if (unread.look_by(at, batches)) helper.wake_at(at);
}

// How long the answers under way may lie, if all may.
std::optional<microseconds> pipeline::may_all_lie() const {
  auto least = tuning.patience;
  for (const request* r = in_flight.first(); r != nullptr; r = request_queue::after(*r)) {
    if (r->how() == delivery::driven || r->how() == delivery::prompt) return std::nullopt;
    if (r->how() == delivery::lazy) least = tuning.grace;
  }
  return least;
}

void pipeline::hurry_watched(delivery how) {
  in_flight.hurry_watched(how);
  pending.hurry_watched(how);
}

void pipeline::open(link& made, const std::string& address) {
  const auto now = net::now();
  if (!where.arrive(address)) return pauses.on_not_connected(now, false);
  over.take(made);
  net::block_at_most(over.socket(), moment);
  out.start(settings.scripts, settings.asks_slots);
  pauses.on_connected(now);
  silence.start(now);
  enqueue_pending(now);
  // Before flush(), which unlocks: a caller that came in between would read as well.
  if (!in_flight.empty() || (!nothing_to_read() && !role.offer_to_listener(nullptr))) {
    role.take_in_background();
  }
  flush();
}

void pipeline::hang_up() {
  net::shut_down(over.socket());
  role.take_in_background_if_free();
}

request_queue pipeline::break_off() {
  over.close();
  pauses.on_broken(net::now());
  where.lose();
  role.give_up();
  unread.cancel();
  out.clear();
  return in_flight.take();
}

}  // namespace holdfast::redis
