// Looking after a connection: what the background thread and the connecting thread do.
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

#include "net/clock.hpp"
#include "net/quiet_thread.hpp"
#include "net/socket.hpp"
#include "redis/connection.hpp"
#include "redis/connection_ping.hpp"
#include "redis/late_wake_ups.hpp"
#include "resp/server_error.hpp"

namespace holdfast::redis {
namespace {

constexpr milliseconds first_attempt_delay{10};
constexpr milliseconds last_attempt_delay{500};
// So long a replica that lets us in is asked before its name is looked up again.
constexpr milliseconds stay_at_a_replica{500};
constexpr milliseconds delay_after_refusal{1000};  // that is likely to come again
// In a cluster each failure makes others be asked who has the locks now.
constexpr milliseconds last_attempt_delay_in_cluster{100};
// So long a reader may be deaf to all but the socket.
constexpr milliseconds moment{1};

}  // namespace

net::attendant::interest connection::wants(monotonic_time now) {
  const scoped_mutex lock(mutex_);
  interest wanted;
  if (closed_) return wanted;
  if (!up_) {
    if (!connecting_ && is_wanted()) wanted.at = attempt_at_;
    return wanted;
  }
  wanted.fd = link_.fd();
  if (blocked_) wanted.events |= POLLOUT;
  if (role_ == role::background) {
    wanted.events |= POLLIN;
    note_due();
    wanted.at = out_.empty() || blocked_ ? std::min(due_, ping_at_) : now;
  } else {
    // What comes is for whoever reads. The end is for those who have nothing to ask: what they hold
    // may be lost with the server. Data does not wake who polls for the end only.
    if (!end_is_seen_) wanted.events |= POLLRDHUP;
    wanted.at = std::min(look_at_, ping_at_);
  }
  if (!pending_.empty()) wanted.at = now;
  if (wanted.events == 0) wanted.fd = -1;
  return wanted;
}

void connection::attend(short events, monotonic_time now) {
  scoped_mutex lock(mutex_);
  if (closed_) return;
  if (!up_) {
    if (connecting_ || now < attempt_at_ || !is_wanted()) return;
    connecting_ = true;
    elsewhere_.clear();
    lock.unlock();
    return start_connecting();
  }
  if ((events & POLLOUT) != 0) {
    blocked_ = false;
    flush();  // unlocks meanwhile
    if (!up_) return;
  }
  if (!pending_.empty()) {  // there was no memory for it
    enqueue_pending(now);
    attract_reader(delivery::prompt);  // unlocks meanwhile
    if (!up_) return;
  }
  auto spin = tuning_.background_spin;
  if ((events & (POLLRDHUP | POLLHUP | POLLERR)) != 0) {
    end_is_seen_ = true;  // by the caller who reads, if there is one
    if (role_ == role::none) role_ = role::background;
  }
  if (now >= look_at_) {
    look_at_ = monotonic_time::max();
    if (role_ != role::background) flush();  // unlocks meanwhile
    if (!up_) return;
    const bool unread = role_ == role::none && !nothing_to_read();
    if (unread && progress_ == progress_seen_) {
      role_ = role::background;
      spin = microseconds{0};  // nobody waits for what lay here
    } else if (unread) {
      look_within(tuning_.grace);
    }
  }
  ping_if_silent(now);
  const bool reads = role_ == role::background;
  lock.unlock();
  if (reads) read_in_background(spin);
}

// The background thread has the role. Returns after a while even under steady load, so that timers
// are attended to as well.
void connection::read_in_background(microseconds spin) {
  auto& mine = my_turn();
  const auto started = net::now();
  auto quiet_since = started;
  bool heard = false;
  for (auto now = started; now - started < milliseconds{2}; now = net::now()) {
    if (helper_.was_woken() || now == started) {
      const scoped_mutex lock(mutex_);
      flush();
    }
    mine.batch.clear();
    const auto outcome = link_.receive(mine.batch);
    if (outcome == link::outcome::closed) {
      process(mine, nullptr, outcome);
      return tear_down(why_closed());
    }
    if (outcome == link::outcome::data) {
      if (!process(mine, nullptr, outcome)) return;
      quiet_since = net::now();
      heard = true;
    } else if (now - quiet_since >= spin && now >= spin_end(nullptr)) {
      break;
    }
  }
  {
    const late_wake_ups woken;
    const scoped_mutex lock(mutex_);
    note_due();
    if (net::now() < due_ && stop_reading(heard)) return;
  }
  tear_down_if_overdue();
}

// False: the background thread keeps the role. It does so also where all may lie, but it has not
// `heard` anything: somebody must notice when a server is silent for too long.
bool connection::stop_reading(bool heard) {
  if (!out_.empty() || (!in_flight_.empty() && !heard)) return false;
  const auto time = may_all_lie();
  if (!time) return false;
  if (offer_to_listener(nullptr)) return true;
  if (!nobody_listens()) return false;
  role_ = role::none;
  look_at_ = monotonic_time::max();  // of what has been read now
  if (!in_flight_.empty()) look_within(*time);
  return true;
}

void connection::ping_if_silent(monotonic_time now) {
  if (now < ping_at_) return;
  ping_at_ = now + tuning_.ping_after;
  const bool silent = progress_ == progress_at_ping_ && in_flight_.empty();
  progress_at_ping_ = progress_;
  if (silent && nobody_listens() && observer_.is_dispensable()) return hang_up();
  if (!silent || !ping_->is_free()) return;
  ping_->use();
  enqueue(*ping_, now);
  if (attract_reader(delivery::prompt)) helper_.wake();
}

// Whoever reads sees the end and cleans up.
void connection::hang_up() {
  net::shut_down(link_.socket());
  if (role_ == role::none) role_ = role::background;
}

bool connection::is_wanted() const {
  return !pending_.empty() || (ever_reached_ && observer_.needs_connection());
}

// On a thread of its own: connecting may take long, and the background thread's timers must not.
void connection::start_connecting() {
  if (connector_.joinable()) connector_.join();  // an earlier attempt, which has ended
  try {
    connector_ = net::quiet_thread("holdfast-login", [this] { connect(); });
  } catch (const std::system_error& none_left) {
    not_connected({errc::unavailable,
                   "no thread can be started to connect: " + none_left.code().message(), false});
  }
}

void connection::connect() {
  link made;
  session_facts facts;
  if (const auto broken = open(made, facts)) {
    not_connected(*broken);
  } else {
    connected(made, facts.address);
  }
  helper_.wake();
}

// In a cluster the observer makes connections to the nodes that it hears of.
std::optional<breakdown> connection::open(link& made, session_facts& facts) {
  try {
    if (auto broken = locator_.open(made, facts)) return broken;
    observer_.on_connected(facts);
    return std::nullopt;
  } catch (const std::system_error& none_left) {
    return breakdown{errc::unavailable, "no descriptor is left: " + none_left.code().message()};
  }
}

void connection::connected(link& made, const std::string& address) {
  const scoped_mutex lock(mutex_);
  connecting_ = false;
  ever_reached_ = true;
  // The sentinels were asked before that was known.
  if (!elsewhere_.empty() && elsewhere_ != address) return schedule_attempt();
  link_.take(made);
  net::block_at_most(link_.socket(), moment);
  address_ = address;
  up_ = true;
  end_is_seen_ = false;
  scripts_.start(settings_.scripts, settings_.asks_slots);
  const auto now = net::now();
  up_since_ = now;
  ping_at_ = now + tuning_.ping_after;
  enqueue_pending(now);
  // Before flush(), which unlocks: a caller that came in between would read as well.
  if (!in_flight_.empty() || (!nothing_to_read() && !offer_to_listener(nullptr))) {
    role_ = role::background;
  }
  flush();
}

void connection::not_connected(const breakdown& why) {
  request_queue failed;
  auto what = fate::not_sent;
  {
    const scoped_mutex lock(mutex_);
    connecting_ = false;
    schedule_attempt();
    if (why.is_permanent()) attempt_at_ = net::now() + delay_after_refusal;
    ever_reached_ = ever_reached_ || why.reached;
    if (!ever_reached_) what = fate::unreachable;
    failed = pending_.take();
  }
  observer_.on_not_connected();
  fail(failed, what, why);
}

// Each may be gone, or asked again, when it was told.
void connection::fail(request_queue& all, fate what, const breakdown& why) {
  while (!all.empty()) {
    request& r = *all.pop();
    r.form_ = resp::writer::scripts::by_sha1;
    r.redirections_ = 0;
    r.on_failed(what, why);
  }
}

// The first attempt after a break comes at once, later ones with growing pauses. A connection that
// has answered something, or was good for a while, ends the row.
void connection::schedule_attempt() {
  const auto now = net::now();
  const auto longest = settings_.asks_slots ? last_attempt_delay_in_cluster : last_attempt_delay;
  if (up_ && now - up_since_ > longest) attempt_delay_ = milliseconds{0};
  attempt_at_ = now + attempt_delay_;
  attempt_delay_ = std::clamp(attempt_delay_ * 2, first_attempt_delay, longest);
}

void connection::leave_for(const std::string& address) {
  locator_.ask_again();
  {
    const scoped_mutex lock(mutex_);
    if (!up_ && !address.empty()) elsewhere_ = address;
    if (!up_ || address == address_) return;
    hang_up();
  }
  helper_.wake();
}

// A master that has become a replica refuses for good. Scripts that do something to each of several
// locks tell the refusal of each in a list.
void connection::leave_if_demoted(const resp::value& said) {
  const auto refuses = [](const resp::value& one) {
    const bool may = one.text.starts_with("READONLY") || one.text.starts_with("-READONLY");
    return may && (one.is(resp::type::error) || one.is_text());
  };
  if (refuses(said) || std::ranges::any_of(said.items, refuses)) leave_demoted();
}

// The sentinels know its successor. So does a name, sooner or later: it is looked up again twice a
// second, since until then it leads to the same server.
void connection::leave_demoted() {
  if (!locator_.may_lead_elsewhere()) return;
  if (!locator_.follows_sentinels()) {
    const scoped_mutex lock(mutex_);
    if (up_ && net::now() < up_since_ + stay_at_a_replica) return;
  }
  leave_for({});
}

void connection::shut_down() {
  locator_.cancel();
  if (connector_.joinable()) connector_.join();
  locator_.stop_watching();
  {
    const scoped_mutex lock(mutex_);
    closed_ = true;
    up_ = false;
    link_.socket().reset();
  }
  // Who hears that may ask again at once, to give back what he may have got.
  for (auto failed = take_all(); !failed.empty(); failed = take_all()) {
    fail(failed, fate::unknown, {errc::unavailable, "the client was closed"});
  }
}

request_queue connection::take_all() {
  const scoped_mutex lock(mutex_);
  auto all = in_flight_.take();
  for (auto waiting = pending_.take(); !waiting.empty();) all.push(*waiting.pop());
  return all;
}

}  // namespace holdfast::redis
