#include "redis/connection/reader.hpp"

#include <sched.h>

#include "net/clock.hpp"
#include "net/late_wake_ups.hpp"
#include "net/socket.hpp"
#include "redis/connection/demotion.hpp"

namespace holdfast::redis {
namespace {

// After so many batches of answers it is asked again which core they come from.
constexpr std::uint64_t core_look = 64;
// So long the background thread reads at a time.
constexpr milliseconds shift{2};

// The server has taken back what it let us in by.
bool tells_of_log_out(const resp::value& said) {
  return said.is(resp::type::error) && said.text.starts_with("NOAUTH");
}

}  // namespace

reader::reader(pipeline& line, connector& connecting, connection_observer& watching,
               std::atomic<std::uint64_t>* positions)
    : line_(line),
      connector_(connecting),
      observer_(watching),
      positions_(positions),
      wait_(line.over, line.tuning) {}

std::size_t reader::crowd() const noexcept {
  return same_core_ ? line_.tuning.crowd_on_one_core : line_.tuning.crowd;
}

void reader::note_due(const request_queue& in_flight) noexcept {
  due_ = in_flight.empty() ? monotonic_time::max()
                           : in_flight.first()->sent_at() + line_.settings.response_timeout;
}

monotonic_time reader::due(const request_queue& in_flight) noexcept {
  note_due(in_flight);
  return due_;
}

// The state by which the thread that keeps the role decides until it hears something.
void reader::look_who_waits(const net::waiter* leader, const request_queue& in_flight) noexcept {
  note_due(in_flight);
  alone_ = leader != nullptr && in_flight.awaits_only_the_last() &&
           in_flight.last()->sleeper() == leader;
}

void reader::begin(const net::waiter& leader, const request_queue& in_flight) noexcept {
  look_who_waits(&leader, in_flight);
  if (in_flight.size() == 1) alone_ = true;  // that is its own, also if it does not say so
}

void reader::lead(net::waiter& w) {
  auto& mine = answers::mine();
  for (bool leads = true; leads;) {
    mine.clear();
    const auto outcome = receive(w, mine.batch());
    if (outcome == link::outcome::data) {
      leads = process(mine, &w, outcome);
      // Messages without end are no answer.
      const bool may_be_overdue = leads && mine.matched() == 0 && due_ != monotonic_time::max();
      if (may_be_overdue && tear_down_if_overdue()) return;
    } else if (outcome == link::outcome::closed) {
      process(mine, nullptr, outcome);  // the values before the end
      return tear_down({line_.over.reason(), line_.over.problem()});
    } else if (tear_down_if_overdue()) {
      return;
    }
    if (leads) (void)w.time_left();  // it has no more than that, whatever comes
    if (leads && w.is_finished()) return pass_role(w);
  }
}

// A thread that only listens looks up now and then, since others may have asked something
// meanwhile.
link::outcome reader::receive(net::waiter& w, reply_batch& into) {
  const bool expects_answer = due_ != monotonic_time::max();
  const auto until = expects_answer ? due_ : net::now() + line_.settings.response_timeout;
  return wait_.receive(w, into, {alone_, same_core_, until});
}

void reader::pass_role(const net::waiter& leader) {
  const net::late_wake_ups woken;
  scoped_mutex lock(line_.guard);
  const bool wake = line_.pass_role(leader, 0, crowd());
  lock.unlock();
  if (wake) line_.helper.wake();
}

void reader::read_in_background(microseconds spin) {
  auto& mine = answers::mine();
  const auto started = net::now();
  auto quiet_since = started;
  bool heard = false;
  for (auto now = started; now - started < shift; now = net::now()) {
    if (line_.helper.was_woken() || now == started) {
      const scoped_mutex lock(line_.guard);
      line_.flush();
    }
    mine.clear();
    const auto outcome = line_.over.receive(mine.batch());
    if (outcome == link::outcome::closed) {
      process(mine, nullptr, outcome);
      return tear_down({line_.over.reason(), line_.over.problem()});
    }
    if (outcome == link::outcome::data) {
      if (!process(mine, nullptr, outcome)) return;
      quiet_since = net::now();
      heard = true;
    } else if (now - quiet_since >= spin && now >= wait_.push_due()) {
      break;
    }
  }
  {
    const net::late_wake_ups woken;
    const scoped_mutex lock(line_.guard);
    note_due(line_.in_flight);
    if (net::now() < due_ && line_.stop_reading_in_background(heard)) return;
  }
  tear_down_if_overdue();
}

// Gives the answers in the batch to those that asked. False: the role has been passed on. Not by
// the background thread if `how` says that they were the last: then it tears down.
bool reader::process(answers& mine, const net::waiter* leader, link::outcome how) {
  const auto size = mine.batch().size();
  auto position = received_ + 1;
  received_ += size;
  if (positions_ != nullptr) position = positions_->fetch_add(size) + 1;
  bool leads = true;
  bool wake = false;
  net::late_wake_ups woken;
  {
    const scoped_mutex lock(line_.guard);
    if (++line_.batches % core_look == 0) {
      same_core_ = net::comes_from_this_core(line_.over.socket());
    }
    const auto found = mine.match(line_.in_flight, leader);
    if (!found.credible) line_.over.give_up("the server's answers do not match the requests");
    if (mine.matched() > 0) line_.pauses.on_answer();
    if (found.for_leader) {
      wake = line_.pass_role(*leader, mine.matched(), crowd());
      leads = false;
    } else if (line_.role.is_in_background() && how != link::outcome::closed) {
      leads = !line_.role.leave_to_callers(line_.load(mine.matched(), crowd()), found.for_a_thread,
                                           line_.out.empty());
    }
    if (leads) look_who_waits(leader, line_.in_flight);
  }
  if (wake) line_.helper.wake();
  woken.send();  // the thread that reads now need not wait until the answers are dealt with
  hand_out(mine, position);
  return leads;
}

void reader::hand_out(answers& mine, std::uint64_t position) {
  mine.hand_out(
      [&](resp::value& message, std::size_t i) { observer_.on_push(message, position + i); },
      [&](request& r, resp::value& said, std::size_t i) {
        r.arrived(position + i);
        if (said.is(resp::type::error) && sent_again(r, said.text)) return;
        if (tells_of_demotion(said)) connector_.leave_demoted();
        if (tells_of_log_out(said)) connector_.on_logged_out(said.text);
        r.conclude(said);
      });
}

// The error says that nothing has happened, and what mends that.
bool reader::sent_again(request& r, std::string& error) {
  if (!r.needs_text_after(error)) return observer_.on_error(r, error);
  line_.submit(r, nullptr, delivery::prompt);
  return true;
}

bool reader::tear_down_if_overdue() {
  if (due_ == monotonic_time::max()) {
    const scoped_mutex lock(line_.guard);
    note_due(line_.in_flight);
  }
  if (net::now() < due_) return false;
  tear_down({errc::unavailable, "the server did not answer within " +
                                    std::to_string(line_.settings.response_timeout.count()) +
                                    " ms"});
  return true;
}

void reader::tear_down(const breakdown& why) {
  request_queue failed;
  {
    scoped_mutex lock(line_.guard);
    while (line_.out.is_being_sent()) {  // a write does not block, so this is short
      lock.unlock();
      sched_yield();
      lock.lock();
    }
    failed = line_.break_off();
  }
  failed.conclude(no_answer::unknown, why);
  observer_.on_broken();
  line_.helper.wake();
}

}  // namespace holdfast::redis
