// Reading: one thread at a time reads for everybody.
#include <poll.h>
#include <sched.h>

#include <algorithm>

#include "base/thread_scratch.hpp"
#include "base/uncancelled.hpp"
#include "net/clock.hpp"
#include "net/socket.hpp"
#include "redis/connection.hpp"
#include "redis/late_wake_ups.hpp"
#include "resp/server_error.hpp"

namespace holdfast::redis {
namespace {

// After so many batches of answers it is asked again which core they come from.
constexpr std::uint64_t core_look = 64;

}  // namespace

connection::turn& connection::my_turn() {
  auto& mine = thread_scratch<turn>();
  mine.batch.clear();
  return mine;
}

void connection::prepare_to_drive() {
  thread_scratch<turn>().batch.prepare();
  late_wake_ups::prepare();
}

void connection::drive(waiter& w) noexcept {
  const uncancelled meanwhile;
  while (!w.is_finished() || w.was_offered_role()) {
    bool leads = false;
    bool wake = false;
    {
      const late_wake_ups woken;
      const scoped_mutex lock(mutex_);
      if (up_ && !out_.empty()) wake = role_ == role::background || flush();
      leads = take_role(w);
      if (leads && w.is_finished()) {
        wake = pass_role(w, 0) || wake;
        leads = false;
      }
      if (leads) {
        look_who_waits(&w);
        if (in_flight_.size() == 1) alone_ = true;  // for his own, also if that does not say so
      }
      // Nobody can ask it to read: what it waits for names no thread.
      if (!leads && w.has_companion() && !w.is_finished()) {
        in_flight_.hurry_watched(delivery::prompt);
        pending_.hurry_watched(delivery::prompt);
      }
      // Coroutines are served best by their own thread: the background thread shall give it back.
      if (w.is_executor() && role_ == role::background) claimant_ = &w;
    }
    if (wake) helper_.wake();
    if (leads) {
      lead(w);
    } else if (!w.is_finished()) {
      w.sleep();
    }
  }
  w.expect_longer(nanoseconds{0});
}

bool connection::take_role(waiter& w) {
  if (w.was_offered_role()) {
    w.clear_role();
    return true;
  }
  if (role_ != role::none || !up_ || nothing_to_read() || w.is_finished()) return false;
  role_ = role::caller;
  return true;
}

bool connection::nobody_listens() const { return listeners_.empty() && other_listeners_ == 0; }

bool connection::nothing_to_read() const { return in_flight_.empty() && nobody_listens(); }

// The thread that waited longest will get its message first, and then need not be woken for it.
bool connection::offer_to_listener(const waiter* leader) {
  for (waiter* const w : listeners_) {
    if (w == leader || !w->offer_role()) continue;
    role_ = role::caller;
    return true;
  }
  return false;
}

// The newest of those who asked has slept least and must be woken anyway.
bool connection::offer_to_newest(const waiter* leader) {
  if (in_flight_.empty()) return false;
  waiter* const newest = in_flight_.last()->sleeper_;
  if (newest == nullptr || newest == leader || !newest->offer_role()) return false;
  role_ = role::caller;
  return true;
}

// Who waits for a message goes on reading when he has read somebody else's answer; who asks would
// have to wake him next.
bool connection::offer_to_callers(const waiter* leader) {
  return offer_to_listener(leader) || offer_to_newest(leader);
}

void connection::listen(waiter* who) {
  bool wake = false;
  {
    const late_wake_ups woken;
    const scoped_mutex lock(mutex_);
    if (who != nullptr) {
      listeners_.push_back(who);
    } else {
      ++other_listeners_;
    }
    if (up_ && role_ == role::none && !offer_to_listener(nullptr)) {
      role_ = role::background;
      wake = true;
    }
  }
  if (wake) helper_.wake();
}

void connection::unlisten(const waiter* who) {
  const scoped_mutex lock(mutex_);
  if (who == nullptr) {
    --other_listeners_;
  } else {
    std::erase(listeners_, who);
  }
}

// Asked by whoever has the role.
std::size_t connection::crowd() const noexcept {
  return takes_turns_ ? tuning_.crowd_on_one_core : tuning_.crowd;
}

bool connection::is_crowded(std::size_t answered) const {
  return in_flight_.size() + answered >= crowd();
}

// Half of it is not enough to call the background thread, but enough to keep it: threads that have
// their answers are about to ask again.
bool connection::is_calm(std::size_t answered) const {
  return in_flight_.size() + answered < crowd() / 2;
}

// The leader has its answer: who reads now? True: wake the background thread.
bool connection::pass_role(const waiter& leader, std::size_t answered) {
  if (nothing_to_read()) {
    role_ = role::none;
    return false;
  }
  const bool crowded = !in_flight_.empty() && is_crowded(answered);
  if ((leader.is_executor() || !crowded) && offer_to_callers(&leader)) return false;
  if (leader.is_executor() && !in_flight_.empty()) {
    role_ = role::none;  // it will be back for the rest after running its coroutines
    look_within(tuning_.grace);
    return false;
  }
  role_ = role::background;
  return true;
}

// The background thread has answers, among them one that a thread waits for if it `answers_thread`.
// Does it leave the rest to those who wait? Where it is slow to look up, there need be no quiet
// moment in which it would stop by itself.
bool connection::leave_to_callers(std::size_t answered, bool answers_thread) {
  if (claimant_ != nullptr && claimant_->offer_role()) {
    claimant_ = nullptr;
    role_ = role::caller;
    return true;
  }
  calm_ = answers_thread && is_calm(answered) ? calm_ + 1 : 0;
  if (calm_ < tuning_.calm || !out_.empty()) return false;
  if (nothing_to_read()) {
    role_ = role::none;  // that thread may be back at once
    return true;
  }
  return offer_to_callers(nullptr);
}

// Reads until this thread no longer has the role.
void connection::lead(waiter& w) {
  auto& mine = my_turn();
  for (bool leads = true; leads;) {
    mine.batch.clear();
    const auto outcome = await_data(w, mine.batch);
    if (outcome == link::outcome::data) {
      leads = process(mine, &w, outcome);
      // Messages without end are no answer.
      const bool may_be_overdue = leads && mine.answers == 0 && due_ != monotonic_time::max();
      if (may_be_overdue && tear_down_if_overdue()) return;
    } else if (outcome == link::outcome::closed) {
      process(mine, nullptr, outcome);  // what came before the end
      return tear_down(why_closed());
    } else if (tear_down_if_overdue()) {
      return;
    }
    if (leads) (void)w.time_left();  // it has no more than that, whatever comes
    if (leads && w.is_finished()) {
      const late_wake_ups woken;
      scoped_mutex lock(mutex_);
      const bool wake = pass_role(w, 0);
      lock.unlock();
      if (wake) helper_.wake();
      return;
    }
  }
}

void connection::expect_push() noexcept {
  if (tuning_.spin == microseconds{0}) return;
  const auto due = net::now() + tuning_.push_spin;
  push_due_.store(due.time_since_epoch().count(), std::memory_order_relaxed);
}

// For the last answer a thread waits, and for no other.
bool connection::one_waits() const {
  return in_flight_.awaited() == 1 && in_flight_.last()->sleeper_ != nullptr;
}

// What whoever keeps the role goes by until he hears something.
void connection::look_who_waits(const waiter* leader) {
  note_due();
  alone_ = leader != nullptr && one_waits() && in_flight_.last()->sleeper_ == leader;
}

// Until when it is worth looking again and again. `w`: the thread that is alone on the connection,
// if one is.
monotonic_time connection::spin_end(const waiter* w) const noexcept {
  const monotonic_time push_due{nanoseconds{push_due_.load(std::memory_order_relaxed)}};
  if (w == nullptr) return push_due;
  return std::max(net::now() + tuning_.spin + w->longer(), push_due);
}

link::outcome connection::await_data(waiter& w, reply_batch& batch) {
  const bool spins = alone_ && !takes_turns_ && tuning_.spin > microseconds{0};
  const auto end = spin_end(spins ? &w : nullptr);
  while (end > monotonic_time{} && net::now() < end) {
    const auto outcome = link_.receive(batch);
    if (outcome != link::outcome::would_block || w.is_finished()) return outcome;
    sched_yield();  // the server may want this processor
  }
  if (!w.is_finished()) w.tell_companion();
  // Its answer will be here before anybody wants to interrupt it.
  if (alone_ && !w.is_executor() && !w.is_finished()) {
    const auto outcome = link_.receive_soon(batch);
    if (outcome != link::outcome::would_block || w.is_finished()) return outcome;
  }
  poll_socket(w);
  return link_.receive(batch);
}

void connection::poll_socket(waiter& w) {
  if (w.start_reading(interrupt_)) {
    pollfd polled[2] = {{link_.fd(), POLLIN, 0}, {interrupt_.fd(), POLLIN, 0}};
    timespec timeout{};
    // Who listens looks up now and then, since others may have asked something meanwhile.
    nanoseconds left =
        due_ == monotonic_time::max() ? settings_.response_timeout : due_ - net::now();
    if (const auto own = w.time_left()) left = std::min(left, *own);
    const auto wait = std::max(nanoseconds{0}, left).count();
    timeout = {wait / 1'000'000'000, wait % 1'000'000'000};
    ::ppoll(polled, 2, &timeout, nullptr);
    if (polled[1].revents != 0) interrupt_.clear();
  }
  w.stop_reading();
}

// Gives the answers in the batch to those who asked. False: the role has been passed on. Not by the
// background thread if `how` says that they were the last: then it tears down.
bool connection::process(turn& mine, const waiter* leader, link::outcome how) {
  bool leads = true;
  bool wake = false;
  late_wake_ups woken;
  mine.position = received_ + 1;
  received_ += mine.batch.size();
  if (positions_ != nullptr) mine.position = positions_->fetch_add(mine.batch.size()) + 1;
  {
    const scoped_mutex lock(mutex_);
    if (++progress_ % core_look == 0) {
      takes_turns_ = net::comes_from_this_core(link_.socket());
    }
    bool answers_leader = false;
    bool answers_thread = false;
    for (std::size_t i = 0; i < mine.batch.size(); ++i) {
      const auto& said = mine.batch[i];
      const auto* const oldest = in_flight_.first();
      if (oldest == nullptr || !oldest->is_answered_by(said)) {
        if (oldest == nullptr ? said.is(resp::type::push) : oldest->is_preceded_by(said)) continue;
        link_.give_up("what the server answers is not what was asked");
        break;
      }
      request* const r = in_flight_.pop();
      answers_leader = answers_leader || (leader != nullptr && r->sleeper_ == leader);
      answers_thread = answers_thread || r->sleeper_ != nullptr;
      r->sleeper_ = nullptr;  // it may leave now; forget() would not find the request here
      mine.answered.push(*r);
    }
    mine.answers = mine.answered.size();
    if (mine.answers > 0) attempt_delay_ = milliseconds{0};
    if (answers_leader) {
      wake = pass_role(*leader, mine.answers);
      leads = false;
    } else if (role_ == role::background && how != link::outcome::closed &&
               leave_to_callers(mine.answers, answers_thread)) {
      leads = false;
    } else {
      look_who_waits(leader);
    }
  }
  if (wake) helper_.wake();
  woken.send();  // who reads now need not wait until the answers are dealt with
  dispatch(mine);
  return leads;
}

void connection::dispatch(turn& mine) {
  for (std::size_t i = 0; i < mine.batch.size(); ++i) {
    auto& value = mine.batch[i];
    const auto* const oldest = mine.answered.first();
    const bool is_answer = oldest != nullptr && oldest->is_answered_by(value);
    if (value.is(resp::type::push) && !is_answer) {
      observer_.on_push(value, mine.position + i);
      continue;
    }
    if (!is_answer) continue;
    request& r = *mine.answered.pop();
    r.position_ = mine.position + i;
    if (value.is(resp::type::error) && sent_again(r, value.text)) continue;
    r.form_ = resp::writer::scripts::by_sha1;
    r.redirections_ = 0;
    leave_if_demoted(value);
    r.on_reply(value);
  }
}

// The error says that nothing has happened, and what mends that.
bool connection::sent_again(request& r, std::string& error) {
  // The server has forgotten the script (or never had it): send its text.
  if (r.form_ == resp::writer::scripts::by_sha1 && error.starts_with("NOSCRIPT")) {
    r.form_ = resp::writer::scripts::by_text;
    submit(r, delivery::prompt);
    return true;
  }
  return observer_.on_error(r, error);
}

void connection::note_due() {
  due_ = in_flight_.empty() ? monotonic_time::max()
                            : in_flight_.first()->sent_at_ + settings_.response_timeout;
}

bool connection::tear_down_if_overdue() {
  if (due_ == monotonic_time::max()) {
    const scoped_mutex lock(mutex_);
    note_due();
  }
  if (net::now() < due_) return false;
  tear_down({errc::unavailable, "the server did not answer within " +
                                    std::to_string(settings_.response_timeout.count()) + " ms"});
  return true;
}

breakdown connection::why_closed() const { return {link_.reason(), link_.problem()}; }

// Ends a broken connection. By whoever has the role; it has none afterwards.
void connection::tear_down(const breakdown& why) {
  request_queue failed;
  {
    scoped_mutex lock(mutex_);
    while (writing_) {  // a write does not block, so this is short
      lock.unlock();
      sched_yield();
      lock.lock();
    }
    link_.close();
    schedule_attempt();  // asks for how long it was up
    up_ = false;
    blocked_ = false;
    role_ = role::none;
    look_at_ = monotonic_time::max();
    out_.clear();
    unsent_ = 0;
    failed = in_flight_.take();
  }
  fail(failed, fate::unknown, why);
  observer_.on_broken();
  helper_.wake();
}

}  // namespace holdfast::redis
