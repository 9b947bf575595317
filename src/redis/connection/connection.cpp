#include "redis/connection/connection.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/uncancelled.hpp"
#include "net/late_wake_ups.hpp"
#include "redis/connection/answers.hpp"

namespace holdfast::redis {

connection::connection(session_settings settings, connection_tuning tuning,
                       net::background_thread& helper, observer& watching,
                       std::atomic<std::uint64_t>* positions)
    : settings_(std::move(settings)),
      tuning_(tuning),
      observer_(watching),
      line_(*this, settings_, tuning_, helper),
      login_renewal_(line_),
      connector_(line_, watching, login_renewal_),
      reader_(line_, connector_, watching, positions),
      ping_(connector_) {}

void connection::submit(request& r, delivery how) noexcept { line_.submit(r, nullptr, how); }

void connection::submit(request& first, request& second, delivery how) noexcept {
  line_.submit(first, &second, how);
}

void connection::prepare_to_drive() {
  answers::prepare();
  net::late_wake_ups::prepare();
}

void connection::drive(net::waiter& w) noexcept {
  const uncancelled meanwhile;
  while (!w.is_finished() || w.was_offered_role()) {
    bool leads = false;
    bool wake = false;
    {
      const net::late_wake_ups woken;
      const scoped_mutex lock(line_.guard);
      if (line_.is_up() && !line_.out.empty()) {
        wake = line_.role.is_in_background() || line_.flush();
      }
      leads = take_role(w, wake);
      // Nobody can ask it to read: its request names no thread.
      if (!leads && w.has_companion() && !w.is_finished()) line_.hurry_watched(delivery::prompt);
      if (w.is_executor() && line_.role.is_in_background()) line_.role.claim(w);
    }
    if (wake) line_.helper.wake();
    if (leads) {
      reader_.lead(w);
    } else if (!w.is_finished()) {
      w.sleep();
    }
  }
  w.expect_longer(nanoseconds{0});
}

// True: it reads from now on. It may be done when the role is offered to it: then it passes it on.
bool connection::take_role(net::waiter& w, bool& wake) {
  if (!line_.take_role(w)) return false;
  if (w.is_finished()) {
    wake = line_.pass_role(w, 0, reader_.crowd()) || wake;
    return false;
  }
  reader_.begin(w, line_.in_flight);
  return true;
}

void connection::forget(const net::waiter& w) {
  bool wake = false;
  {
    const scoped_mutex lock(line_.guard);
    line_.role.forget(w);
    line_.in_flight.forget(w);
    line_.pending.forget(w);
    // It may have been finished before it drove anything, and nobody else sends what it submitted.
    if (line_.is_up() && !line_.in_flight.empty()) {
      wake = line_.attract_reader(delivery::lazy);
      if (line_.role.is_free()) line_.look_within(tuning_.grace);
    }
  }
  if (wake) line_.helper.wake();
}

void connection::listen(net::waiter* who) {
  bool wake = false;
  {
    const net::late_wake_ups woken;
    const scoped_mutex lock(line_.guard);
    line_.role.listen(who);
    if (line_.is_up() && line_.role.is_free() && !line_.role.offer_to_listener(nullptr)) {
      line_.role.take_in_background();
      wake = true;
    }
  }
  if (wake) line_.helper.wake();
}

void connection::unlisten(const net::waiter* who) {
  const scoped_mutex lock(line_.guard);
  line_.role.unlisten(who);
}

void connection::look_soon() {
  const scoped_mutex lock(line_.guard);
  line_.hurry_watched(delivery::lazy);
  if (line_.answers_lie()) line_.look_within(tuning_.grace);
}

void connection::let_lie() {
  const scoped_mutex lock(line_.guard);
  if (line_.answers_lie()) line_.look_within(tuning_.patience);
}

bool connection::is_up() {
  const scoped_mutex lock(line_.guard);
  return line_.is_up();
}

bool connection::is_wanted() const {
  return !line_.pending.empty() || (line_.where.was_reached() && observer_.needs_connection());
}

net::attendant::interest connection::wants(monotonic_time now) {
  const scoped_mutex lock(line_.guard);
  interest wanted;
  if (!line_.is_up()) {
    if (line_.where.may_set_out() && is_wanted()) wanted.at = line_.pauses.next_attempt();
    return wanted;
  }
  wanted.fd = line_.over.fd();
  if (line_.out.is_blocked()) wanted.events |= POLLOUT;
  if (line_.role.is_in_background()) {
    wanted.events |= POLLIN;
    const auto due = reader_.due(line_.in_flight);
    const bool may_send = !line_.out.empty() && !line_.out.is_blocked();
    wanted.at = may_send ? now : std::min(due, line_.silence.at());
  } else {
    // Data is for the thread that reads. The end also concerns callers that ask nothing: their
    // leases may be lost with the server. Data does not wake a poll for the end only.
    if (!line_.where.has_ended()) wanted.events |= POLLRDHUP;
    wanted.at = std::min(line_.unread.at(), line_.silence.at());
  }
  if (!line_.pending.empty()) wanted.at = now;
  if (wanted.events == 0) wanted.fd = -1;
  return wanted;
}

void connection::attend(short events, monotonic_time now) {
  scoped_mutex lock(line_.guard);
  if (!line_.is_up()) {
    if (!line_.where.may_set_out() || now < line_.pauses.next_attempt() || !is_wanted()) return;
    line_.where.set_out();
    lock.unlock();
    return connector_.start();
  }
  send_what_waits(events, now);  // unlocks meanwhile
  if (!line_.is_up()) return;
  if ((events & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
    line_.where.see_end();
    line_.role.take_in_background_if_free();  // else the caller that reads sees it
  }
  const bool lay = now >= line_.unread.at() && take_what_lies();  // unlocks meanwhile
  if (!line_.is_up()) return;
  ping_if_silent(now);
  const bool reads = line_.role.is_in_background();
  lock.unlock();
  // Nobody waits for what lay here.
  if (reads) reader_.read_in_background(lay ? microseconds{0} : tuning_.background_spin);
}

void connection::send_what_waits(short events, monotonic_time now) {
  if ((events & POLLOUT) != 0) {
    line_.out.unblock();
    line_.flush();  // unlocks meanwhile
  }
  if (line_.is_up() && !line_.pending.empty()) {  // there was no memory for it
    line_.enqueue_pending(now);
    line_.attract_reader(delivery::prompt);
  }
}

// True: the background thread reads what nobody has read since it was asked to look.
bool connection::take_what_lies() {
  line_.unread.cancel();
  if (!line_.role.is_in_background()) line_.flush();  // unlocks meanwhile
  if (!line_.is_up() || !line_.role.is_free() || line_.nothing_to_read()) return false;
  if (line_.unread.found_nobody_reading(line_.batches)) {
    line_.role.take_in_background();
    return true;
  }
  line_.look_within(tuning_.grace);
  return false;
}

void connection::ping_if_silent(monotonic_time now) {
  if (now < line_.silence.at()) return;
  const bool silent = line_.silence.was_silent(now, line_.batches) && line_.in_flight.empty();
  if (!silent) return;
  if (line_.role.nobody_listens() && observer_.is_dispensable()) return line_.hang_up();
  if (!ping_.is_free()) return;
  ping_.use();
  line_.enqueue(ping_, now);
  if (line_.attract_reader(delivery::prompt)) line_.helper.wake();
}

void connection::shut_down() {
  connector_.stop();
  {
    const scoped_mutex lock(line_.guard);
    // Sends the rest that was left to the background thread, which has ended: a farewell is not
    // sent again.
    line_.flush();  // unlocks meanwhile
    line_.where.close();
    line_.over.socket().reset();
  }
  // A request that fails may be followed by another one at once, to give back what it may have got.
  for (auto failed = take_all(); !failed.empty(); failed = take_all()) {
    failed.conclude(no_answer::unknown, {errc::unavailable, "the client was closed"});
  }
}

request_queue connection::take_all() {
  const scoped_mutex lock(line_.guard);
  auto all = line_.in_flight.take();
  all.append(line_.pending.take());
  return all;
}

}  // namespace holdfast::redis
