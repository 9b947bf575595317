// Sending: commands from many threads become few writes.
#include "redis/connection.hpp"

#include <sched.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/uncancelled.hpp"
#include "net/clock.hpp"
#include "net/socket.hpp"
#include "redis/connection_ping.hpp"

namespace holdfast::redis {

connection::connection(session_settings settings, connection_tuning tuning,
                       net::background_thread& helper, observer& watching,
                       std::atomic<std::uint64_t>* positions)
    : settings_(std::move(settings)),
      tuning_(tuning),
      helper_(helper),
      observer_(watching),
      positions_(positions),
      locator_(settings_, [this](const std::string& address) { leave_for(address); }),
      ever_reached_(settings_.is_known),
      ping_(std::make_unique<ping_request>(*this)) {}

connection::~connection() = default;

void connection::write_down(request& r, monotonic_time now) {
  r.sent_at_ = now;
  resp::writer out(out_, r.form_, &scripts_);
  r.write(out, now);
}

void connection::await(request& r) noexcept {
  in_flight_.push(r);
  ++unsent_;
}

void connection::enqueue(request& r, monotonic_time now) {
  write_down(r, now);
  await(r);
}

// False: there is no memory for them, and no part of either may be sent.
bool connection::try_enqueue(request& first, request* second) noexcept {
  const auto sent_before = out_.size();
  const auto now = net::now();
  try {
    write_down(first, now);
    if (second != nullptr) write_down(*second, now);
  } catch (const std::bad_alloc&) {
    out_.resize(sent_before);
    return false;
  }
  await(first);
  if (second != nullptr) await(*second);
  return true;
}

// What waited for the connection, or for memory.
void connection::enqueue_pending(monotonic_time now) {
  for (auto waiting = pending_.take(); !waiting.empty();) enqueue(*waiting.pop(), now);
}

void connection::submit(request& r, delivery how) noexcept { submit(r, nullptr, how); }

void connection::submit(request& first, request& second, delivery how) noexcept {
  submit(first, &second, how);
}

// A thread that drives another connection neither sends nor reads here.
connection::delivery connection::reachable(request& r, delivery how) {
  if (r.sleeper_ == nullptr || r.sleeper_->home() == this) return how;
  r.sleeper_ = nullptr;
  return how == delivery::driven ? delivery::prompt : how;
}

void connection::submit(request& first, request* second, delivery how) noexcept {
  bool wake = true;
  {
    const scoped_mutex lock(mutex_);
    how = reachable(first, how);
    if (second != nullptr) how = reachable(*second, how);
    first.how_ = how;
    if (second != nullptr) second->how_ = how;
    if (!up_ || !try_enqueue(first, second)) {
      pending_.push(first);
      if (second != nullptr) pending_.push(*second);
    } else {
      // Its thread may compute for long before it is back here.
      const bool may_lie =
          how == delivery::driven && first.sleeper_ != nullptr && first.sleeper_->is_executor();
      wake = attract_reader(how);
      if (may_lie) look_within(tuning_.patience);
    }
  }
  if (wake) helper_.wake();
}

// Sees to it that what was enqueued is sent and its answer read. True: wake the background thread.
bool connection::attract_reader(delivery how) {
  if (role_ == role::background) {
    // It also sends, what has come together in one go. But the server shall not be idle until all
    // of a crowd have asked.
    if (unsent_ >= 2 && 3 * unsent_ >= in_flight_.size()) flush();
    return true;
  }
  if (how == delivery::driven) return false;
  const bool wake = flush();  // unlocks meanwhile
  if (role_ != role::none || !up_) return wake;
  if (how == delivery::watched || how == delivery::lazy) {
    const bool may_lie_longer = how == delivery::watched;
    look_within(may_lie_longer ? settings_.response_timeout / 2 : tuning_.grace);
    return wake;
  }
  role_ = role::background;
  return true;
}

// The background thread looks whether anything lies.
void connection::look_within(microseconds time) {
  const auto at = net::now() + time;
  if (look_at_ <= at) return;
  look_at_ = at;
  progress_seen_ = progress_;
  helper_.wake_at(look_at_);
}

// How long the answers under way may lie, if all may.
std::optional<microseconds> connection::may_all_lie() const {
  auto least = tuning_.patience;
  for (const request* r = in_flight_.first(); r != nullptr; r = request_queue::after(*r)) {
    if (r->how_ == delivery::driven || r->how_ == delivery::prompt) return std::nullopt;
    if (r->how_ == delivery::lazy) least = tuning_.grace;
  }
  return least;
}

void connection::look_soon() {
  const scoped_mutex lock(mutex_);
  in_flight_.hurry_watched(delivery::lazy);
  pending_.hurry_watched(delivery::lazy);
  if (up_ && role_ == role::none && !in_flight_.empty()) look_within(tuning_.grace);
}

void connection::let_lie() {
  const scoped_mutex lock(mutex_);
  if (up_ && role_ == role::none && !in_flight_.empty()) look_within(tuning_.patience);
}

// Sends what is in out_; one thread at a time. True: wake the background thread.
bool connection::flush() {
  if (writing_ || blocked_ || out_.empty()) return false;
  const uncancelled meanwhile;
  writing_ = true;
  // Others are busy here too: letting them run once brings more commands into one write. Not where
  // most of them wait for a message: what they are to send when it has come would lie until then.
  // Nor where nobody waits for what else is under way, as for the release before, or for votes.
  const bool others_are_busy =
      in_flight_.awaited() > 0 && in_flight_.size() > 1 + listeners_.size() && !one_waits();
  if (others_are_busy && role_ != role::background) {
    mutex_.unlock();
    sched_yield();
    mutex_.lock();
  }
  auto outcome = link::outcome::data;
  while (outcome == link::outcome::data && !out_.empty()) {
    sending_.clear();
    sending_.swap(out_);
    unsent_ = 0;
    sent_ = 0;
    mutex_.unlock();
    outcome = link_.send(sending_, sent_);
    mutex_.lock();
  }
  writing_ = false;
  if (outcome == link::outcome::data) return false;
  if (outcome == link::outcome::would_block) {
    blocked_ = true;
    if (keep_unsent()) return true;
  }
  net::shut_down(link_.socket());  // whoever reads sees the end and cleans up
  if (role_ == role::none) role_ = role::background;
  return true;
}

// What the socket did not take comes first. False: there is no memory for what others have written
// behind it meanwhile.
bool connection::keep_unsent() {
  try {
    sending_.append(out_);
  } catch (const std::bad_alloc&) {
    return false;
  }
  sending_.erase(0, sent_);
  out_.swap(sending_);
  return true;
}

bool connection::is_up() {
  const scoped_mutex lock(mutex_);
  return up_;
}

void connection::forget(const waiter& w) {
  bool wake = false;
  {
    const scoped_mutex lock(mutex_);
    if (claimant_ == &w) claimant_ = nullptr;
    in_flight_.forget(w);
    pending_.forget(w);
    // It may have been finished before it drove anything, and nobody else sends what it submitted.
    if (up_ && !in_flight_.empty()) {
      wake = attract_reader(delivery::lazy);
      if (role_ == role::none) look_within(tuning_.grace);
    }
  }
  if (wake) helper_.wake();
}

}  // namespace holdfast::redis
