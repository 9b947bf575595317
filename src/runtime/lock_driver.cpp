#include "runtime/lock_driver.hpp"

#include <algorithm>
#include <utility>

#include "net/clock.hpp"
#include "runtime/clock_rate.hpp"
#include "runtime/executor.hpp"
#include "runtime/extending.hpp"
#include "runtime/joint_request.hpp"
#include "runtime/local_lock.hpp"

namespace holdfast::runtime {
namespace {

monotonic_time present() noexcept { return follow_clock_rate(net::now()); }

}  // namespace

lock_driver::lock_driver(engine& owner, std::shared_ptr<const lock_spec> spec,
                         leasing::patience patience, bool may_stop, local_lock* local)
    : engine_(owner),
      spec_(std::move(spec)),
      local_(local),
      claim_(claim_of(owner, *spec_, patience)),
      session_(claim_, patience, terms_of(owner, *spec_), spec_->pauses(), owner.next_seed()),
      stop_callback_(may_stop ? std::make_unique<stop_callback>() : nullptr) {
  if (auto* const held = spec_->changes()) ++held->changes_;
}

lock_driver::~lock_driver() {
  if (auto* const held = spec_->changes()) --held->changes_;
  // In a forked child the timers and their mutex are only a picture of the parent's.
  if (is_armed() && engine_.is_in_its_process()) engine_.timers().disarm(*this);
}

// ---- what callers want -------------------------------------------------------------------------

// All that it needs has been made with it: from here on, what must not be half done takes no memory
// that could fail, or ends the process.
void lock_driver::acquire(std::stop_token stop, listener who, bool drives) noexcept {
  std::unique_ptr<stop_callback> stops;
  if (stop.stop_possible()) {
    {
      const scoped_mutex lock(mutex_);
      stops = std::move(stop_callback_);
    }
    if (stops) stops->emplace(std::move(stop), stopper{this});  // it may be called here
  }
  const scoped_mutex lock(mutex_);
  if (session_.is_told()) return;  // abandoned just now: whoever would be told is gone
  // Before the attempt begins: it may end, and the callback be destroyed, while this still runs.
  stop_callback_ = std::move(stops);
  caller_.who = who;
  obey(session().begin(present()), drives);
  caller_.who.together = nullptr;
}

bool lock_driver::abandon() noexcept {
  // Ends outside of the mutex, for which a callback that is running may wait.
  std::unique_ptr<stop_callback> stops;
  auto* const changed = spec_->changes();
  const bool was_held = changed != nullptr && changed->wants_renewal();
  bool untold = false;
  {
    const scoped_mutex lock(mutex_);
    stops = std::move(stop_callback_);
    untold = std::exchange(caller_.who, {}).exists();
    obey(session().abandon(present()));
  }
  if (changed != nullptr) changed->tell_local_lock(was_held);
  return untold;
}

void lock_driver::on_stop() noexcept {
  if (!engine_.is_in_its_process()) return;
  const auto alive = weak_from_this().lock();
  if (!alive) return;
  const scoped_mutex lock(mutex_);
  obey(session().on_stop(present()));
}

// Requests that are to change it ask behind its release.
bool lock_driver::release(listener who) noexcept {
  const bool had_changes = is_being_changed();
  const auto alive = had_changes ? shared_from_this() : nullptr;
  bool is_released = false;
  {
    const scoped_mutex lock(mutex_);
    is_released = session_.can_be_released();
    if (is_released) {
      caller_.who = who;
      obey(session_.release(net::now()), who.drives());
      caller_.who.together = nullptr;
    }
  }
  if (had_changes) engine_.waiting().wake_changes_of(*this);
  return is_released;
}

result<void> lock_driver::take_released() {
  const scoped_mutex lock(mutex_);
  if (!session_.is_released()) return failure{errc::unavailable, session_.why_unconfirmed()};
  if (caller_.code == errc{}) return {};
  return failure{caller_.code, caller_.detail ? *caller_.detail : std::string{}};
}

bool lock_driver::give_back(const listener& who) { return local_->release(*this, who); }

result<void> lock_driver::give_back_and_wait() {
  const auto alive = shared_from_this();
  auto& connection = engine_.connection(slot());
  redis::waiter self{redis::waiter::kind::caller, &connection};
  if (!give_back({.sleeper = &self})) return {};
  connection.drive(self);
  auto outcome = take_released();
  if (!outcome) connection.forget(self);  // it may still be tried
  return outcome;
}

result<void> lock_driver::extend(milliseconds duration) {
  if (spec_->foreign) dialects::check_longest_lease(*spec_->foreign, duration);
  engine_.register_client(duration);
  {
    const scoped_mutex lock(mutex_);
    session_.on_extending(duration);
  }
  const auto answer = ask_for_extension(engine_, *spec_, claim_, *this, duration);
  if (!answer) return answer.error();
  if (duration > noted_every / 2) note_soon(answer->answered_at);
  leasing::outcome how;
  happen([&](leasing::lock_session& its) {
    auto said = its.on_extended(answer->verdict, duration, answer->sent_at, is_being_changed(),
                                answer->answered_at);
    how = std::move(said.how);
    return said.then;
  });
  if (how.code) return failure{*how.code, how.detail};
  return {};
}

// ---- what happens ------------------------------------------------------------------------------

template <typename Tell>
void lock_driver::happen(Tell tell) {
  const auto alive = shared_from_this();
  const bool was_held = wants_renewal();
  {
    const scoped_mutex lock(mutex_);
    obey(tell(session()));
  }
  tell_local_lock(was_held);
}

// It knows what has become of the lease that it changes.
leasing::lock_session& lock_driver::session() {
  if (const auto* const held = spec_->changes()) {
    using leasing::lock_session;
    session_.note_changed(held->wants_renewal() ? held->remaining() : lock_session::none_left);
  }
  return session_;
}

void lock_driver::on_reply(resp::value& reply) {
  const auto alive = shared_from_this();
  auto* const changed = spec_->changes();
  const bool was_held = changed != nullptr && changed->wants_renewal();
  {
    const scoped_mutex lock(mutex_);
    obey(heard(reply));
    listen();
  }
  if (changed != nullptr) changed->tell_local_lock(was_held);
}

leasing::effects lock_driver::heard(const resp::value& reply) {
  const auto now = present();
  const auto& recipe = *spec_->recipe;
  if (outgoing_.held_back) {
    return session().on_missing(no_answer::not_sent, outgoing::in_quarantine(), now);
  }
  if (outgoing_.what == leasing::ask::acquire) {
    const auto verdict = recipe.read_acquire(claim_, reply);
    return session().on_acquired(verdict, sent_at(), now, position());
  }
  return session().on_given_back(recipe.read_release(reply), now);
}

// It may have ended just now, or by a message that had come before.
void lock_driver::listen() {
  if (session_.hears_messages() && !engine_.hears()) obey(session().on_deaf(present()));
  if (session_.hears_messages()) {
    if (const auto said = line_.enter(*this, caller_.who.sleeper)) obey(hear(*said));
  }
  if (session_.hears_messages()) line_.listen_in_slot(*this);
  if (!spec_->foreign || !session_.is_polling() || !line_.tune_in(*this)) return;
  obey(session().on_tuned_in(true, present()));
}

leasing::effects lock_driver::hear(const line_message& message) {
  // As if it had been lost: it is asked again when the quarantine is over.
  const auto ends = engine_.quarantine_ends();
  if (ends != monotonic_time{} && net::now() < ends) return {};
  const auto now = present();
  const auto position = message.position;
  if (const auto* const first = std::get_if<dialects::first_in_line>(&message.what)) {
    return session().on_first_in_line(first->owner_has, now, position);
  }
  const auto& grant = std::get<dialects::handed_over>(message.what);
  if (!dialects::is_for(grant, spec_->recipe->queue_family(), claim_)) return {};
  const auto granted_at = engine_.clock(slot()).earliest(grant.at);
  if (!granted_at || !dialects::is_plausible(grant, claim_)) return session().on_woken(now);
  const milliseconds ours = grant.claim - claim_.delay;
  return session().on_handed_over({grant.major, ours}, *granted_at, now, position);
}

// The same message of another node is no news.
void lock_driver::on_message(const master& from, const line_message& message) {
  if (&engine_.at(slot()) != &from) return;
  if (std::holds_alternative<dialects::first_in_line>(message.what)) {
    engine_.connection(slot()).expect_push();
  }
  const auto alive = shared_from_this();
  const scoped_mutex lock(mutex_);
  obey(hear(message));
}

void lock_driver::on_failed(no_answer what, const redis::breakdown& why) {
  happen([&](auto& its) { return its.on_missing(what, {why.code, why.detail}, present()); });
}

void lock_driver::on_timer(monotonic_time at) {
  note_when_due(at);
  happen([at](auto& its) { return its.on_timer(at); });
}

void lock_driver::on_woken() {
  happen([](auto& its) { return its.on_woken(present()); });
}

void lock_driver::on_tuned_in(bool hears) {
  if (!spec_->foreign) return;
  happen([hears](auto& its) { return its.on_tuned_in(hears, present()); });
}

void lock_driver::on_replicated(std::optional<leasing::outcome> refusal) {
  const auto alive = shared_from_this();
  const scoped_mutex lock(mutex_);
  obey(session().on_replicated(refusal, net::now()));
}

void lock_driver::on_renewed(const substrate::renew_verdict& verdict, monotonic_time sent_at) {
  happen(
      [&](auto& its) { return its.on_renewed(verdict, sent_at, is_being_changed(), present()); });
}

void lock_driver::on_renewal_missing() {
  happen([](auto& its) { return its.on_renewal_missing(net::now()); });
}

// A request that the old server did not answer is sent at once; those in line are told by the
// waiting room. The index may not know of a lease.
void lock_driver::on_other_server(const redis::slot_set& of) {
  if (!of[slot()]) return;
  note_soon(net::now());
  happen([](auto& its) { return its.on_doubt(net::now()); });
  const scoped_mutex lock(mutex_);
  if (!line_.is_entered()) obey(session().on_woken(present()));
}

void lock_driver::on_change(leasing::change_news what, char other) {
  const scoped_mutex lock(mutex_);
  obey(session_.on_change(what, other, net::now()));
}

void lock_driver::on_replaced() {
  {
    const scoped_mutex lock(mutex_);
    obey(session_.on_replaced());
  }
  if (local_ != nullptr) local_->lost(*this);
}

void lock_driver::on_shut_down() noexcept {
  const scoped_mutex lock(mutex_);
  if (std::exchange(is_counted_, false)) engine_.ended();
  self_.reset();
}

// ---- what is done about it ---------------------------------------------------------------------

// While something is under way it keeps itself alive, and the client from being closed over it.
// Whoever is told may be gone, and this with it: every caller of this keeps a reference.
void lock_driver::obey(const leasing::effects& all, bool drives) {
  if (all.learned) engine_.clock(slot()).learn(sent_at(), net::now(), *all.learned);
  if (all.to_changed != leasing::change_news::none) {
    spec_->changes()->on_change(all.to_changed, spec_->wants->mode);
  }
  const bool is_under_way = session_.is_under_way(), delays_closing = session_.delays_closing();
  if (is_under_way && self_ == nullptr) self_ = shared_from_this();
  if (delays_closing && !std::exchange(is_counted_, true)) engine_.began();
  if (all.granted) {
    if (spec_->is_counted()) engine_.raise_floor(slot(), claim_.granted);
    indexed_.begin(engine_, *spec_, *all.granted);
  }
  if (all.gives_back) indexed_.end(engine_, *spec_, net::now());
  const auto until = session_.has_lease() ? session_.deadline() : monotonic_time{};
  deadline_.store(until.time_since_epoch().count(), std::memory_order_release);
  if (all.wake_at) {
    set_timer(*all.wake_at);
  } else if (all.stops_timer) {
    engine_.timers().disarm(*this);
  }
  if (line_.is_used()) {
    if (!session_.is_asking()) line_.leave(*this);
    if (!session_.may_hear_of_its_grant()) line_.expect_no_grant(*this);
  }
  if (all.lost) loss_.fire(engine_.callbacks());
  if (all.renew) engine_.renewals().add(shared_from_this());
  if (all.replicate) engine_.replicas_of(slot())->confirm(shared_from_this());
  if (all.ended) caller_.note(*all.ended);
  if (all.unheard) {
    const auto who = std::exchange(caller_.who, {});
    send(all, false);
    who.tell(engine_);
  } else {
    if (all.send != leasing::ask::nothing) send(all, drives);
    if (all.tell) std::exchange(caller_.who, {}).tell(engine_);
  }
  if (!delays_closing && std::exchange(is_counted_, false)) engine_.ended();
  if (!is_under_way) self_.reset();
}

void lock_driver::set_timer(monotonic_time at) {
  if (session_.has_lease()) {
    const auto shared = renewals::together(at, spec_->lease);
    at = std::min(shared < session_.deadline() ? shared : at, indexed_.due_at());
  }
  engine_.timers().arm(*this, at);
}

void lock_driver::send(const leasing::effects& what, bool drives) {
  // Each time: those who wait for long shall not be forgotten by those who look at the lock.
  const bool acquires = what.send == leasing::ask::acquire;
  if (acquires) engine_.register_client(spec_->lease);
  if (acquires && what.resend && claim_.waits) line_.expect_grant(*this);
  outgoing_ = {.what = what.send, .resend = what.resend};
  // As the session counts it, which may have been told late: with the time of a timer.
  if (acquires) outgoing_.not_after = session_.executable_until();
  auto& who = caller_.who;
  if (auto* const all = std::exchange(who.together, nullptr)) return all->add(shared_from_this());
  set_sleeper(who.sleeper != nullptr    ? who.sleeper
              : who.executor != nullptr ? &who.executor->waiter()
                                        : nullptr);
  using delivery = redis::connection::delivery;
  engine_.connection(slot()).submit(*this, drives         ? delivery::driven
                                           : who.exists() ? delivery::prompt
                                                          : delivery::lazy);
}

void lock_driver::note_when_due(monotonic_time now) {
  const scoped_mutex lock(mutex_);
  if (session_.has_lease()) indexed_.note_when_due(engine_, *spec_, remaining(now), now);
  if (session_.is_asking()) indexed_.note_gate_when_due(engine_, *spec_, now);
}

void lock_driver::note_soon(monotonic_time now) {
  const scoped_mutex lock(mutex_);
  if (session_.has_lease()) indexed_.note_soon(*spec_, now);
}

// Those who wait for another thread to release a lock, or to change it, need not wait when it is
// lost.
void lock_driver::tell_local_lock(bool was_held) {
  if (!was_held || wants_renewal()) return;
  if (local_ != nullptr) local_->lost(*this);
  if (is_being_changed()) engine_.waiting().wake_changes_of(*this);
}

}  // namespace holdfast::runtime
