#include "runtime/local_lock.hpp"

#include <new>
#include <utility>

#include "net/clock.hpp"
#include "runtime/acquire_blocking.hpp"
#include "runtime/engine.hpp"
#include "runtime/local_acquisition.hpp"

namespace holdfast::runtime {

using leasing::local_turns;

namespace {

constexpr local_turns::glance unseen{.left = nanoseconds::max()};

}  // namespace

local_lock::local_lock(engine& owner, lock_spec spec)
    : engine_(owner),
      spec_(std::move(spec)),
      turns_({.lease = spec_.lease, .retains = spec_.is_retained()}),
      inside_(spec_.recursive ? std::make_unique<recursive_owner>() : nullptr),
      readers_(spec_.joins ? std::make_unique<reader_group>(owner, spec_) : nullptr) {}

local_lock::~local_lock() {
  if (!engine_.is_in_its_process()) return;
  if (spec_.is_retained()) engine_.timers().disarm(*this);
  engine_.local_locks().remove(*this);
}

acquired local_lock::wait(leasing::patience patience, std::stop_token stop) {
  return acquire_blocking(*this, patience, std::move(stop));
}

std::shared_ptr<lock_driver> local_lock::held_by(identity thread) {
  if (thread_.load(std::memory_order_relaxed) != thread) return nullptr;
  std::shared_ptr<lock_driver> has;
  {
    const scoped_mutex lock(mutex_);
    if (thread_.load(std::memory_order_relaxed) != thread) return nullptr;  // it had it
    has = turns_.is_held() ? driver_ : latest_.lock();
  }
  return has && has->held() ? has : nullptr;
}

std::unique_ptr<acquisition> local_lock::ask() {
  return std::make_unique<local_acquisition>(shared_from_this());
}

std::shared_ptr<lock_driver> local_lock::new_driver(leasing::patience patience, bool may_stop) {
  auto made = engine_.make_driver(std::shared_ptr<const lock_spec>(shared_from_this(), &spec_),
                                  patience, may_stop, this);
  // Before anybody can hear of it.
  if (spec_.is_retained()) engine_.expect_revoke(made->claim().owner, shared_from_this());
  return made;
}

local_lock::entry local_lock::enter(leasing::patience patience, identity thread, bool may_stop) {
  if (readers_) return enter_to_read(patience, thread, may_stop);
  if (!spec_.stays_here()) return {.asks = new_driver(patience, may_stop)};
  scoped_mutex lock(mutex_);
  if (turns_.is_idle()) {
    if (const auto minor = turns_.take(seen())) return {.got = hold(thread, minor)};
  } else if (turns_.is_taken()) {
    if (!patience.waits) return {};
    return {.waits = std::make_shared<local_waiter>(shared_from_this(), patience, thread)};
  }
  auto asks = new_driver(patience, may_stop);
  // An idle lock that may not be used any more goes back first.
  const auto spent = std::exchange(driver_, nullptr);
  turns_.ask();
  lock.unlock();
  if (spent) give_back(*spent, {});
  return {.asks = std::move(asks)};
}

std::optional<grant> local_lock::try_take(identity thread) {
  if (readers_) return readers_->join();
  const scoped_mutex lock(mutex_);
  if (!turns_.is_idle()) return std::nullopt;
  const auto minor = turns_.take(seen());
  if (minor == 0) return std::nullopt;
  return hold(thread, minor);
}

local_turns::glance local_lock::seen() const {
  const auto now = net::now();
  return {now, driver_ ? driver_->remaining(now) : nanoseconds{0}};
}

grant local_lock::hold(identity thread, std::uint32_t minor) {
  thread_.store(thread, std::memory_order_relaxed);
  return {driver_, spec_.token(driver_->major(), minor)};
}

grant local_lock::obtained(std::shared_ptr<lock_driver> by, identity thread) {
  if (readers_) return obtained_to_read(std::move(by));
  grant whole{by, spec_.token(by->major(), 0)};
  if (auto* const held = spec_.changes()) held->on_replaced();
  if (spec_.is_gate) by->on_replaced();
  const bool was_queued = by->claim().ticket != 0;
  was_queued_.store(was_queued, std::memory_order_relaxed);
  whole.waited = was_queued || (spec_.foreign && by->has_waited());
  const bool stays = spec_.stays_here();
  if (!stays && !spec_.watches_reentry()) return whole;
  scoped_mutex lock(mutex_);
  thread_.store(thread, std::memory_order_relaxed);
  if (!stays) {
    latest_ = by;
    return whole;
  }
  if (!by->held()) {  // lost already; its holder will see that
    const auto todo = obey(turns_.on_failed());
    lock.unlock();
    carry_out(todo);
    return whole;
  }
  turns_.on_granted(by->major(), was_queued, net::now());
  driver_ = std::move(by);
  return whole;
}

void local_lock::failed(const lock_driver& by) {
  if (spec_.is_retained()) engine_.expect_no_revoke(by.claim().owner);
  const bool asked_for_all = readers_ ? readers_->has_asked(by) : spec_.stays_here();
  if (asked_for_all) follow(&local_turns::on_failed);
}

void local_lock::lost(const lock_driver& what) {
  if (readers_) return readers_->lost(what);
  scoped_mutex lock(mutex_);
  if (driver_.get() != &what) return;
  const auto todo = obey(turns_.on_lost());
  const auto in_use = std::exchange(driver_, nullptr);  // its holder gives it back when it is done
  lock.unlock();
  if (in_use && spec_.is_retained()) engine_.expect_no_revoke(what.claim().owner);
  carry_out(todo);
}

bool local_lock::release(lock_driver& mine, const listener& who) {
  if (auto* const watch = engine_.deadlocks()) watch->released(mine);
  if (spec_.is_gate) return false;
  if (!spec_.stays_here()) return mine.release(who);
  scoped_mutex lock(mutex_);
  if (driver_.get() != &mine) {  // it was lost
    lock.unlock();
    return give_back(mine, who);
  }
  // A lease that has ended meanwhile goes back if a listener wants to hear of that. Otherwise the
  // next caller notices it.
  const bool must_look = turns_.is_wanted() || who.exists();
  const auto step = turns_.on_released(must_look ? seen() : unseen);
  if (!step.gives_back) mine.change_hands();
  if (step == local_turns::step{}) return false;
  const auto todo = obey(step);
  lock.unlock();
  return carry_out(todo, who);
}

bool local_lock::give_back(lock_driver& mine, const listener& who) {
  if (spec_.is_retained()) engine_.expect_no_revoke(mine.claim().owner);
  return mine.release(who);
}

// ---- those that wait here ----------------------------------------------------------------------

void local_lock::join(local_waiter& who) noexcept {
  scoped_mutex lock(mutex_);
  who.assert_held();
  if (!who.is_waiting()) return who.tell();  // stopped before it began
  who.enter_line();
  const auto todo = obey(turns_.on_joined(who, seen()));
  lock.unlock();
  carry_out(todo, {}, &who);
}

local_waiter::news local_lock::look(local_waiter& who) {
  scoped_mutex lock(mutex_);
  who.assert_held();
  errands todo;
  if (who.is_waiting()) {
    who.sleeper().clear_done();
    todo = obey(turns_.on_looked(who, seen()));
  }
  auto news = who.take_news();
  lock.unlock();
  carry_out(todo, {}, &who);
  return news;
}

bool local_lock::leave(local_waiter& who, leasing::outcome why, bool is_told) {
  scoped_mutex lock(mutex_);
  who.assert_held();
  if (!who.is_waiting()) return false;
  const auto alive = who.end(std::move(why));
  if (!who.is_in_line()) return true;
  const auto todo = obey(turns_.on_left(who, seen()));
  if (is_told) who.tell();
  lock.unlock();
  carry_out(todo);
  return true;
}

// ---- what the turns want -----------------------------------------------------------------------

void local_lock::follow(local_turns::step (local_turns::*event)() noexcept) {
  scoped_mutex lock(mutex_);
  const auto todo = obey((turns_.*event)());
  lock.unlock();
  carry_out(todo);
}

local_lock::errands local_lock::obey(const local_turns::step& step) noexcept {
  errands todo;
  if (step.holds != nullptr) {
    auto& next = static_cast<local_waiter&>(*step.holds);
    next.assert_held();
    todo.holds = next.end(hold(next.thread(), step.minor));
    if (next.thread() == 0) next.tell();  // under the mutex: it may be gone afterwards
  }
  if (step.wakes != nullptr) {
    todo.wakes = static_cast<local_waiter*>(step.wakes)->shared_from_this();
  }
  if (step.gives_back) todo.spent = std::exchange(driver_, nullptr);
  if (step.sets_timer) engine_.timers().arm(*this, net::now() + nanoseconds{spec_.retain} / 2);
  let_ask(step.asks, todo);
  return todo;
}

// A waiter for which there is no memory to ask fails, and no other.
void local_lock::let_ask(local_turns::waiter* next, errands& todo) noexcept {
  for (; next != nullptr; next = turns_.on_failed().asks) {
    auto& who = static_cast<local_waiter&>(*next);
    who.assert_held();
    try {
      todo.asks = new_driver(who.patience(), who.may_stop());
    } catch (const std::bad_alloc&) {
      const auto alive = who.end(local_waiter::out_of_memory{});
      who.tell();
      continue;
    }
    if (readers_) readers_->asks(*todo.asks);
    todo.asker = who.end(todo.asks);
    return;
  }
}

// Without the mutex. `caller`: goes on to drive, if it is the one that asks.
bool local_lock::carry_out(const errands& todo, const listener& who, const local_waiter* caller) {
  if (todo.holds) todo.holds->sleeper().done();
  if (todo.wakes) todo.wakes->sleeper().done();
  const bool is_told = todo.spent && give_back(*todo.spent, who);
  if (todo.asker) {
    const bool drives = todo.asker.get() == caller
                            ? caller->drives()
                            : is_told && who.drives(engine_.source_of(spec_.key.slot()));
    todo.asker->ask(*todo.asks, drives);
  }
  return is_told;
}

// ---- a lock that nobody uses -------------------------------------------------------------------

void local_lock::on_timer(monotonic_time) { follow(&local_turns::on_timer); }

void local_lock::revoke() { follow(&local_turns::on_revoked); }

void local_lock::raise_floor(substrate::token_major seen) {
  if (readers_) return readers_->raise_floor(seen);
  if (!spec_.fenced) return;  // no resource can refuse what has no token
  const scoped_mutex lock(mutex_);
  turns_.raise_floor(seen);
}

void local_lock::on_shut_down() noexcept {
  const scoped_mutex lock(mutex_);
  turns_.close();
  driver_.reset();  // it keeps this alive
}

// ---- readers that join each other: one asks the server for all that come meanwhile -------------

local_lock::entry local_lock::enter_to_read(leasing::patience patience, identity thread,
                                            bool may_stop) {
  if (auto joined = readers_->join()) return {.got = std::move(joined)};
  if (!patience.waits) return {.asks = new_driver(patience, may_stop)};
  const scoped_mutex lock(mutex_);
  if (turns_.is_taken()) {
    return {.waits = std::make_shared<local_waiter>(shared_from_this(), patience, thread)};
  }
  auto asks = new_driver(patience, may_stop);
  readers_->asks(*asks);
  turns_.ask();
  return {.asks = std::move(asks)};
}

// All that wait here come in with the one that asked; if there are too many for one grant, the next
// of them asks again. They are told under the mutex: a waiter that gives up finds either that it
// still waits, or what it was told, to withdraw it. Where this throws, the grant goes back.
grant local_lock::obtained_to_read(std::shared_ptr<lock_driver> by) {
  const bool asked_for_all = readers_->has_asked(*by);
  std::optional<grant> whole;
  try {
    whole = readers_->obtained(by);
    whole->waited = by->claim().ticket != 0;
  } catch (const std::bad_alloc&) {
    by->release({});
  }
  {
    scoped_mutex lock(mutex_);
    while (whole && admit_first()) continue;
    errands todo;
    if (asked_for_all) todo = obey(turns_.on_failed());
    lock.unlock();
    carry_out(todo);
  }
  if (!whole) throw std::bad_alloc();
  return *std::move(whole);
}

// False: nobody waits, or the first waiter cannot join.
bool local_lock::admit_first() noexcept {
  if (!turns_.is_wanted()) return false;
  local_waiter::news joins = local_waiter::out_of_memory{};
  try {
    auto joined = readers_->join();
    if (!joined) return false;
    joins = *std::move(joined);
  } catch (const std::bad_alloc&) {
  }
  auto& who = static_cast<local_waiter&>(*turns_.first());
  who.assert_held();
  turns_.on_left(who, unseen);
  const auto alive = who.end(std::move(joins));
  who.tell();
  return true;
}

}  // namespace holdfast::runtime
