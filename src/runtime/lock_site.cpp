#include "runtime/lock_site.hpp"

#include <sched.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/at_exit.hpp"
#include "base/printable.hpp"
#include "net/clock.hpp"
#include "runtime/engine.hpp"
#include "runtime/site_acquisition.hpp"

namespace holdfast::runtime {
namespace {

constexpr microseconds slice{10};

}  // namespace

lock_site::lock_site(engine& owner, lock_spec spec)
    : engine_(owner),
      spec_(std::move(spec)),
      inside_(spec_.recursive ? std::make_unique<insider>() : nullptr),
      readers_(spec_.joins ? std::make_unique<reader_group>(owner, spec_) : nullptr) {}

lock_site::~lock_site() {
  if (!engine_.is_in_its_process()) return;
  if (spec_.is_retained()) engine_.timers().disarm(*this);
  engine_.sites().remove(*this);
}

acquired lock_site::wait(leasing::patience patience, std::stop_token stop) {
  // A blocking call there would stop the very thread that others need to go on.
  if (patience.waits && engine_.callbacks().is_this_thread()) {
    throw failure{errc::would_deadlock,
                  "waiting for a lock in a callback would stop all callbacks; use async_acquire"};
  }
  auto* const watch = engine_.deadlocks();
  if (watch == nullptr) return block(patience, std::move(stop), this_thread());
  return block_watched(*watch, patience, std::move(stop), this_thread());
}

acquired lock_site::block_watched(deadlock_watch& watch, leasing::patience patience,
                                  std::stop_token stop, identity thread) {
  std::optional<deadlock_watch::wait> waiting;
  if (patience.waits && deadlock_watch::follows(spec_)) {
    stop = waiting.emplace(watch, spec_, thread, std::move(stop)).stop();
  }
  auto outcome = block(patience, std::move(stop), thread);
  if (const auto* const got = std::get_if<grant>(&outcome)) {
    keep_or_give_back(*got,
                      [&] { watch.acquired(thread, std::static_pointer_cast<tenure>(got->of)); });
  } else if (waiting) {
    if (auto report = waiting->report()) return *std::move(report);
  }
  return outcome;
}

acquired lock_site::block(leasing::patience patience, std::stop_token stop, identity thread) {
  if (!stop.stop_requested()) {
    if (auto at_hand = try_take(thread)) return *std::move(at_hand);
  }
  if (patience.waits) {
    check_reentry(thread);
    // Who has just given it back would only be in the way of those who get it before him.
    if (was_queued_.load(std::memory_order_relaxed)) sched_yield();
  }
  redis::connection::prepare_to_drive();
  redis::waiter self{redis::waiter::kind::caller, &engine_.connection(spec_.key.slot())};
  site_acquisition wanted{shared_from_this()};
  bool ended = wanted.begin(patience, std::move(stop), {.sleeper = &self});
  bool has_it = false;
  // Whatever it throws from here on: others know that this thread waits.
  auto leave = [&]() noexcept {
    auto& sleeper = wanted.sleeper();
    auto& connection = *sleeper.home();
    // It may have been asked to read for everybody while it looked.
    sleeper.done();
    connection.drive(sleeper);
    // If the attempt was given up, its command may still be under way.
    if (!has_it) connection.forget(sleeper);
  };
  const at_exit leaves(leave);
  for (;; ended = false) {
    if (!ended) wanted.sleeper().home()->drive(wanted.sleeper());
    if (auto outcome = wanted.look()) {
      has_it = std::holds_alternative<grant>(*outcome);
      return *std::move(outcome);
    }
    // It is ours next. Unless it is we who ask: what we ask is not sent yet.
    if (!wanted.asks_server()) wanted.sleeper().spin(engine_.options().spin);
  }
}

// A thread that has the lock would wait for itself.
void lock_site::check_reentry(identity thread) {
  if (thread_.load(std::memory_order_relaxed) != thread || !spec_.watches_reentry()) return;
  std::shared_ptr<tenure> has;
  {
    const scoped_mutex lock(mutex_);
    if (thread_.load(std::memory_order_relaxed) != thread) return;  // it had it
    has = state_ == state::held ? tenure_ : latest_.lock();
  }
  if (!has || !has->held()) return;
  throw failure{errc::would_deadlock,
                "this thread has the lock '" + printable(name()) +
                    "' already and would wait for itself: use a recursive_mutex, or "
                    "reentry::waits if another thread releases it"};
}

std::unique_ptr<acquisition> lock_site::ask() {
  return std::make_unique<site_acquisition>(shared_from_this());
}

std::shared_ptr<tenure> lock_site::new_tenure(leasing::patience patience, bool may_stop) {
  auto made = std::make_shared<tenure>(engine_,
                                       std::shared_ptr<const lock_spec>(shared_from_this(), &spec_),
                                       patience, may_stop, this);
  // Before anybody can hear of it.
  if (spec_.is_retained()) engine_.waiting().keep(made->claim().owner, shared_from_this());
  return made;
}

lock_site::entry lock_site::enter(leasing::patience patience, identity thread, bool may_stop) {
  if (readers_) return enter_to_read(patience, thread, may_stop);
  if (!spec_.stays_here()) return {.asks = new_tenure(patience, may_stop)};
  scoped_mutex lock(mutex_);
  switch (state_) {
    case state::idle:
      if (may_pass_on(net::now())) return {.got = take(thread)};
      break;
    case state::free:
      break;
    case state::asking:
    case state::held:
      if (!patience.waits) return {};
      return {.waits = std::make_shared<local_waiter>(shared_from_this(), patience, thread)};
  }
  auto asks = new_tenure(patience, may_stop);
  // An idle lock that may not be used any more goes back first.
  const auto spent = std::exchange(tenure_, nullptr);
  state_ = state::asking;
  revoked_ = false;
  lock.unlock();
  if (spent) give_back(*spent, {});
  return {.asks = std::move(asks)};
}

std::optional<grant> lock_site::try_take(identity thread) {
  if (readers_) return readers_->join();
  const scoped_mutex lock(mutex_);
  if (state_ != state::idle || !may_pass_on(net::now())) return std::nullopt;
  return take(thread);
}

bool lock_site::may_pass_on(monotonic_time now) const {
  // A floor is one of tokens: without any, no resource can refuse them.
  const bool is_above_floor = !spec_.fenced || tenure_->major() > floor_;
  return !revoked_ && minor_ < last_minor && is_above_floor &&
         spec_.is_enough(tenure_->remaining(now));
}

std::uint64_t lock_site::token(const tenure& of, std::uint32_t minor) const {
  return spec_.token(of.major(), minor);
}

grant lock_site::take(identity thread) {
  thread_.store(thread, std::memory_order_relaxed);
  state_ = state::held;
  ++minor_;
  return {tenure_, token(*tenure_, minor_)};
}

grant lock_site::obtained(std::shared_ptr<tenure> by, identity thread) {
  if (readers_) return obtained_to_read(std::move(by));
  grant whole{by, token(*by, 0)};
  if (auto* const held = spec_.changes()) held->on_replaced();
  if (spec_.is_gate) by->on_replaced();
  was_queued_.store(by->claim().ticket != 0, std::memory_order_relaxed);
  const bool stays = spec_.stays_here();
  if (!stays && !spec_.watches_reentry()) return whole;
  scoped_mutex lock(mutex_);
  thread_.store(thread, std::memory_order_relaxed);
  if (!stays) {
    latest_ = by;
    return whole;
  }
  if (!by->held()) {  // lost already; who got it will see that
    const auto next = promote_next();
    lock.unlock();
    if (next) next->ask(false);
    return whole;
  }
  state_ = state::held;
  tenure_ = std::move(by);
  const auto now = net::now();
  begin_slice(now);
  turn_ends_ = now + local_turn;
  minor_ = 0;
  return whole;
}

void lock_site::failed(const tenure& by) {
  if (spec_.is_retained()) engine_.waiting().keep_no_more(by.claim().owner);
  const bool asked_for_all = readers_ ? readers_->has_asked(by) : spec_.stays_here();
  if (!asked_for_all) return;
  scoped_mutex lock(mutex_);
  const auto next = promote_next();
  lock.unlock();
  if (next) next->ask(false);
}

// The next of us shall ask the server; the caller must let him, without the mutex. A waiter for
// which there is no memory to ask fails, and no other.
std::shared_ptr<local_waiter> lock_site::promote_next() noexcept {
  while (!waiters_.empty()) {
    auto next = std::move(waiters_.front());
    waiters_.pop_front();
    try {
      next->asks_ = new_tenure(next->patience_, next->stop_.stop_possible());
    } catch (const std::bad_alloc&) {
      next->fail();
      continue;
    }
    next->state_ = local_waiter::state::asking;
    if (readers_) readers_->asks(*next->asks_);
    state_ = state::asking;
    revoked_ = false;
    return next;
  }
  state_ = state::free;
  return nullptr;
}

void lock_site::lost(const tenure& what) {
  if (readers_) return readers_->lost(what);
  scoped_mutex lock(mutex_);
  if (tenure_.get() != &what) return;
  // Whoever is inside gives it back when he comes out; of what is idle nobody ever would.
  const bool is_unused = state_ == state::idle;
  const auto ended = std::exchange(tenure_, nullptr);
  const auto next = promote_next();
  lock.unlock();
  if (is_unused) {
    give_back(*ended, {});
  } else if (spec_.is_retained()) {
    engine_.waiting().keep_no_more(what.claim().owner);
  }
  if (next) next->ask(false);
}

bool lock_site::release(tenure& mine, const listener& who) {
  if (auto* const watch = engine_.deadlocks()) watch->released(mine);
  if (spec_.is_gate) return false;
  if (!spec_.stays_here()) return mine.release(who);
  scoped_mutex lock(mutex_);
  if (tenure_.get() != &mine) {  // it was lost
    lock.unlock();
    return give_back(mine, who);
  }
  const auto next = hand_on(who);
  lock.unlock();
  return carry_out(next, who);
}

// Nobody uses the lock that we have: another of us gets it, or it is kept, or goes back.
lock_site::succession lock_site::hand_on(const listener& who) {
  if (waiters_.empty()) {
    // Who stood in the queue is not told whether others stand behind him, and keeps nothing. What
    // has ended meanwhile goes back where somebody is told so; else the next one looks.
    if (spec_.is_retained() && tenure_->claim().ticket == 0 && !revoked_ && minor_ < last_minor &&
        (!who.exists() || tenure_->held())) {
      keep();
      return {};
    }
  } else if (const auto now = net::now(); may_pass_on(now) && now < turn_ends_) {
    return {.woken = pass_on(now)};
  }
  return {.spent = std::exchange(tenure_, nullptr), .asks = promote_next()};
}

bool lock_site::carry_out(const succession& next, const listener& who) {
  next.woken.wake();
  if (!next.spent) return false;
  const bool will_be_told = give_back(*next.spent, who);
  if (next.asks) {
    next.asks->ask(will_be_told && who.drives(engine_.connection(spec_.key.slot())));
  }
  return will_be_told;
}

// The client has it no more; the caller must give it back, without the mutex.
std::shared_ptr<tenure> lock_site::detach() {
  state_ = state::free;
  return std::exchange(tenure_, nullptr);
}

bool lock_site::give_back(tenure& mine, const listener& who) {
  if (spec_.is_retained()) engine_.waiting().keep_no_more(mine.claim().owner);
  return mine.release(who);
}

// To the one that waited longest. If that is a thread that still sleeps, or the slice of those who
// are running is not over, the lock is free for any of us until then.
lock_site::sleepers lock_site::pass_on(monotonic_time now) {
  tenure_->change_hands();
  local_waiter& first = *waiters_.front();
  const bool is_thread = first.listener_.sleeper != nullptr;
  if (is_thread && (!first.ready_ || now < slice_ends_)) {
    state_ = state::idle;
    // He may have gone to sleep again; nobody else would ever wake him.
    if (std::exchange(first.ready_, false)) first.woken_ = false;
    return {.next = rouse_first()};
  }
  first.got_ = take(first.thread_);
  first.state_ = local_waiter::state::granted;
  begin_slice(now);
  auto alive = std::move(waiters_.front());
  waiters_.pop_front();
  if (!is_thread) {
    alive->listener_.tell(engine_);
    alive.reset();
  }
  return {.owner = std::move(alive), .next = rouse_first()};
}

void lock_site::begin_slice(monotonic_time now) { slice_ends_ = now + slice; }

std::shared_ptr<local_waiter> lock_site::rouse_first() {
  if (waiters_.empty()) return nullptr;
  local_waiter& first = *waiters_.front();
  const bool sleeps = first.listener_.sleeper != nullptr && !std::exchange(first.woken_, true);
  return sleeps ? waiters_.front() : nullptr;
}

void lock_site::sleepers::wake() const {
  if (owner) owner->sleeper_.done();
  if (next) next->sleeper_.done();
}

// ---- keeping a lock that nobody uses -----------------------------------------------------------

// Without a look at the clock, a fifth of what it all costs: the timer finds out whether the lock
// was used meanwhile. So it is kept for half of the time that it may be, or up to all of it.
void lock_site::keep() {
  tenure_->change_hands();
  state_ = state::idle;
  used_ = true;
  if (!timer_runs_) look_again();
}

void lock_site::look_again() {
  used_ = false;
  timer_runs_ = true;
  engine_.timers().arm(*this, net::now() + nanoseconds{spec_.retain} / 2);
}

void lock_site::on_timer(monotonic_time) {
  scoped_mutex lock(mutex_);
  timer_runs_ = false;
  if (state_ != state::idle || !waiters_.empty()) return;
  if (!revoked_ && used_) return look_again();
  const auto kept = detach();
  lock.unlock();
  give_back(*kept, {});
}

void lock_site::raise_floor(dialects::token_major seen) {
  if (readers_) return readers_->raise_floor(seen);
  const scoped_mutex lock(mutex_);
  floor_ = std::max(floor_, seen);
}

void lock_site::revoke() {
  scoped_mutex lock(mutex_);
  revoked_ = true;
  if (state_ != state::idle || !waiters_.empty()) return;
  const auto kept = detach();
  lock.unlock();
  give_back(*kept, {});
}

void lock_site::on_shut_down() noexcept {
  const scoped_mutex lock(mutex_);
  state_ = state::free;
  tenure_.reset();  // it keeps this alive
}

}  // namespace holdfast::runtime
