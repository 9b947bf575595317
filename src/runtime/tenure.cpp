#include "runtime/tenure.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "dialects/nothing.hpp"
#include "lease/server_clock.hpp"
#include "net/clock.hpp"
#include "runtime/blocking_request.hpp"
#include "runtime/executor.hpp"
#include "runtime/joint_request.hpp"
#include "runtime/lock_site.hpp"

namespace holdfast::runtime {
namespace {

leasing::missing to_missing(redis::fate what) noexcept {
  switch (what) {
    case redis::fate::not_sent:
      return leasing::missing::not_sent;
    case redis::fate::unreachable:
      return leasing::missing::unreachable;
    case redis::fate::unknown:
      return leasing::missing::unknown;
  }
  return leasing::missing::unknown;
}

leasing::outcome in_quarantine() {
  return {errc::unavailable,
          "the server is another one than before, and client_options::quarantine keeps this client "
          "from taking new locks for a while"};
}

dialects::claim claim_of(engine& owner, const lock_spec& spec, const leasing::patience& patience) {
  const bool may_queue = patience.waits && spec.has_queue();
  const auto request = owner.next_request(spec.is_retained());
  return {.key = &spec.key,
          .wants = spec.wants.get(),
          .owner = request,
          .lease = spec.lease,
          .delay = spec.delay,
          .floor = spec.is_counted() ? owner.floor(spec.key.slot()) : 0,
          .waits = may_queue,
          .way = owner.hears() ? dialects::wakeup_way::channel : dialects::wakeup_way::poll,
          .queue_limit = spec.queue_limit,
          .proof = may_queue ? owner.proof_of(request.counter()) : 0};
}

}  // namespace

tenure::tenure(engine& owner, std::shared_ptr<const lock_spec> spec, leasing::patience patience,
               bool may_stop, lock_site* site)
    : engine_(owner),
      spec_(std::move(spec)),
      site_(site),
      claim_(claim_of(owner, *spec_, patience)),
      machine_(std::in_place_type<acquiring>, claim_, patience,
               acquiring::settings{.response_timeout = owner.options().response_timeout,
                                   .while_busy = spec_->pauses(),
                                   .seed = owner.next_seed()}),
      stop_callback_(may_stop ? std::make_unique<stop_callback>() : nullptr) {
  if (auto* const held = spec_->changes()) ++held->changes_;
}

tenure::~tenure() {
  if (auto* const held = spec_->changes()) --held->changes_;
  // In a forked child the timers and their mutex are only a picture of the parent's.
  if (is_armed() && engine_.is_in_its_process()) engine_.timers().disarm(*this);
}

// ---- acquiring ---------------------------------------------------------------------------------

// All that it needs has been made with it: from here on, what must not be half done takes no memory
// that could fail, or ends the process.
void tenure::acquire(std::stop_token stop, listener who, bool drives) noexcept {
  std::unique_ptr<stop_callback> stops;
  if (stop.stop_possible()) {
    {
      const scoped_mutex lock(mutex_);
      stops = std::move(stop_callback_);
    }
    if (stops) stops->emplace(std::move(stop), stopper{this});  // it may be called here
  }
  const scoped_mutex lock(mutex_);
  if (begun_ == beginning::abandoned) return;  // just now: who would be told is gone
  // Before the attempt begins: it may end, and the callback be destroyed, while this still runs.
  stop_callback_ = std::move(stops);
  listener_ = who;
  if (begun_ == beginning::stopped) {
    conclude(ending::asking, errc::cancelled, {});
    return tell();
  }
  if (!begin_change()) return tell();
  begun_ = beginning::begun;
  set_busy(true);
  driven_ = drives;
  obey(std::get<acquiring>(machine_).start(present()));
  driven_ = false;
  listener_.together = nullptr;
}

bool tenure::has_answer() {
  const scoped_mutex lock(mutex_);
  return ended_ == ending::asking || ended_ == ending::refused;
}

leasing::outcome tenure::take_acquired() {
  stop_callback_.reset();
  const scoped_mutex lock(mutex_);
  const auto why = std::exchange(why_failed_, nullptr);
  const auto code = std::exchange(failed_, errc{});
  if (code == errc{}) return {};
  return {code, why ? std::move(*why) : std::string{}};
}

bool tenure::leave_unheard() {
  // Ends outside of the mutex, for which a callback that is running may wait.
  std::unique_ptr<stop_callback> stops;
  const scoped_mutex lock(mutex_);
  stops = std::move(stop_callback_);
  const bool untold = listener_.exists();
  listener_ = {};
  if (begun_ != beginning::begun) {
    begun_ = beginning::abandoned;
  } else if (auto* const machine = std::get_if<acquiring>(&machine_)) {
    obey(machine->on_stop(present()));
  } else {
    // What it has changed goes with it, and the server forgets both.
    if (auto* const changed = spec_->changes()) changed->cannot_stay();
    begin_release({});
  }
  return untold;
}

void tenure::on_stop() noexcept {
  if (!engine_.is_in_its_process()) return;
  const auto alive = weak_from_this().lock();
  if (!alive) return;
  const scoped_mutex lock(mutex_);
  if (begun_ == beginning::not_yet) begun_ = beginning::stopped;
  if (begun_ != beginning::begun) return;
  if (auto* const machine = std::get_if<acquiring>(&machine_)) {
    obey(machine->on_stop(present()));
  } else if (ended_ == ending::replicating) {
    refuse({errc::cancelled, {}});
  }
}

void tenure::obey(const leasing::step& step) {
  if (step.learned) engine_.clock(slot()).learn(sent_at(), net::now(), *step.learned);
  if (step.wake_at) engine_.timers().arm(*this, *step.wake_at);
  if (spec_->changes() != nullptr) settle_change(step);
  if (step.send != leasing::ask::nothing) send(step.send, step.resend);
  if (step.done) {
    leave_line();
    tune_out();
    if (!step.done->code) return hold(*step.done);
    conclude(ending::asking, step.done->code, step.done->detail);
    tell();
  }
  if (step.finished) finish();
}

// ---- releasing ---------------------------------------------------------------------------------

bool tenure::begin_release(listener who) {
  auto* const machine = std::get_if<holding>(&machine_);
  if (machine == nullptr || was_replaced_) return false;
  if (ended_ == ending::replicating) ended_ = ending::none;
  leave_room();
  const auto now = net::now();
  const auto deadline = machine->deadline();
  delay_closing(machine->held(now) && !machine->is_overdue(now));
  machine->on_released();
  held_.store(false, std::memory_order_release);
  engine_.timers().disarm(*this);
  listener_ = who;
  if (is_listed()) list_no_longer(now);
  next_at_ = now + engine_.options().response_timeout;
  set_busy(true);
  // Before whoever waits is told that it cannot be done.
  const auto patience = std::min(leasing::longest_move, engine_.options().response_timeout / 2);
  // The last renewal may come late, or have been an extension.
  const auto longer = engine_.options().response_timeout +
                      std::max(milliseconds{0}, machine->may_be_extended_by() - claim_.lease);
  auto& giving_back =
      machine_.emplace<releasing>(claim_, deadline, engine_.next_seed(), patience, longer);
  if (was_lost_) {
    conclude(ending::releasing, errc::lost, "the lease had ended before it was released");
    tell();
  }
  // Whoever has been told already drives nothing.
  driven_ = listener_.drives();
  obey(giving_back.start(now));
  driven_ = false;
  listener_.together = nullptr;
  return true;
}

bool tenure::give_back(const listener& who) { return site_->release(*this, who); }

result<void> tenure::give_back_and_wait() {
  const auto alive = shared_from_this();
  auto& connection = engine_.connection(slot());
  redis::waiter self{redis::waiter::kind::caller, &connection};
  if (!give_back({.sleeper = &self})) return {};
  connection.drive(self);
  auto outcome = take_released();
  if (!outcome) connection.forget(self);  // it may still be tried
  return outcome;
}

void tenure::obey(const leasing::release_step& step) {
  if (step.wake_at) engine_.timers().arm(*this, *step.wake_at);
  if (step.send != leasing::ask::nothing) send(step.send, step.resend);
  if (step.done && ended_ != ending::releasing) {
    conclude(ending::releasing, step.done->code, step.done->detail);
    tell();
  }
  if (step.done && !step.finished) delay_closing(false);
  // It is tried again until the lease ends or longer, but whoever waits is not kept so long.
  const auto goes_on_at = step.resend ? std::optional{net::now()} : step.wake_at;
  if (goes_on_at && *goes_on_at >= next_at_) tell();
  if (step.finished) finish();
}

result<void> tenure::take_released() {
  const scoped_mutex lock(mutex_);
  if (ended_ != ending::releasing) {
    std::string detail =
        "the server has not confirmed the release; it is tried again until the server "
        "must have ended it";
    const auto* const machine = std::get_if<releasing>(&machine_);
    if (machine != nullptr && !machine->last_refusal().empty()) {
      detail += " (" + machine->last_refusal() + ")";
    }
    return failure{errc::unavailable, detail};
  }
  if (failed_ == errc{}) return {};
  return failure{failed_, why_failed_ ? *why_failed_ : std::string{}};
}

// ---- what both ends share ----------------------------------------------------------------------

void tenure::send(leasing::ask what, bool resend) {
  if (spec_->changes() != nullptr && machine_.index() == 0) note_what_is_changed();
  // Each time: who waits for long shall not be forgotten by those who look at the lock.
  if (what == leasing::ask::acquire) engine_.register_client(spec_->lease);
  // An earlier copy may stand in the queue, unheard: a message that it was granted must find us, or
  // the grant would be passed on while the answer to this one says that it is ours.
  const bool may_be_granted = what == leasing::ask::acquire && resend && claim_.waits;
  if (may_be_granted && line_ == nullptr && !std::exchange(is_known_, true)) {
    (void)engine_.waiting().enter(claim_.owner.counter(), shared_from_this());
  }
  // As the machine counts it, which may have been called late: with the time of a timer.
  const auto* const machine = std::get_if<acquiring>(&machine_);
  outgoing_ = {.what = what, .resend = resend};
  if (machine != nullptr) outgoing_.not_after = machine->executable_until();
  if (auto* const all = std::exchange(listener_.together, nullptr)) {
    return all->add(shared_from_this());
  }
  set_sleeper(listener_.sleeper != nullptr    ? listener_.sleeper
              : listener_.executor != nullptr ? &listener_.executor->waiter()
                                              : nullptr);
  using delivery = redis::connection::delivery;
  engine_.connection(slot()).submit(*this, driven_              ? delivery::driven
                                           : listener_.exists() ? delivery::prompt
                                                                : delivery::lazy);
}

void tenure::write(resp::writer& out, monotonic_time sent_at) {
  const auto& recipe = *spec_->recipe;
  switch (outgoing_.what) {
    case leasing::ask::nothing:
      return;
    case leasing::ask::acquire: {
      // Nobody knew before there was a connection whether messages come through it.
      const bool is_first = !outgoing_.resend && claim_.ticket == 0;
      if (is_first && !engine_.hears()) claim_.way = dialects::wakeup_way::poll;
      outgoing_.held_back = sent_at < engine_.quarantine_ends();
      if (outgoing_.held_back) return dialects::write_nothing(out);
      // What waited is given less.
      const auto left = std::max(nanoseconds{0}, outgoing_.not_after - sent_at);
      const auto sent = engine_.clock(slot()).at(sent_at);
      const auto whole = std::chrono::duration_cast<milliseconds>(left);
      return recipe.write_acquire(claim_, outgoing_.resend, leasing::not_after(sent, whole), out);
    }
    case leasing::ask::release:
      return recipe.write_release(claim_, out);
    case leasing::ask::lone_release:
      return recipe.write_lone_release(claim_, out);
    case leasing::ask::withdraw:
      return recipe.write_withdraw(claim_, out);
  }
}

void tenure::hear_reply(resp::value& reply) {
  const scoped_mutex lock(mutex_);
  const auto now = present();
  const auto& recipe = *spec_->recipe;
  if (auto* const machine = std::get_if<acquiring>(&machine_)) {
    if (spec_->changes() != nullptr) note_what_is_changed();
    if (outgoing_.held_back) {
      obey(machine->on_missing(leasing::missing::not_sent, in_quarantine(), now));
    } else if (outgoing_.what == leasing::ask::acquire) {
      obey(machine->on_acquired(recipe.read_acquire(claim_, reply), sent_at(), now, position()));
    } else {
      obey(machine->on_given_back(recipe.read_release(reply), now));
    }
    // The machine may have ended just now, or by a message that had come before.
    if (hears_messages()) stand_in_line();
    if (hears_messages()) listen_in_slot();
    const auto* const asking = std::get_if<acquiring>(&machine_);
    if (asking != nullptr && spec_->foreign && asking->is_polling()) tune_in();
  } else if (auto* const giving_back = std::get_if<releasing>(&machine_)) {
    obey(giving_back->on_given_back(recipe.read_release(reply), now));
  }
}

void tenure::on_failed(redis::fate what, const redis::breakdown& why) {
  const auto alive = shared_from_this();
  const scoped_mutex lock(mutex_);
  const auto now = present();
  if (auto* const machine = std::get_if<acquiring>(&machine_)) {
    obey(machine->on_missing(to_missing(what), {why.code, why.detail}, now));
  } else if (auto* const giving_back = std::get_if<releasing>(&machine_)) {
    obey(giving_back->on_missing(to_missing(what), now));
  }
}

void tenure::on_timer(monotonic_time at) {
  const bool was_held = held_.load(std::memory_order_acquire);
  {
    const scoped_mutex lock(mutex_);
    if (auto* const machine = std::get_if<acquiring>(&machine_)) {
      list_gate_when_due(at);
      obey(machine->on_timer(at));
    } else if (auto* const held = std::get_if<holding>(&machine_)) {
      list_when_due(at);
      obey(held->on_timer(at));
    } else if (auto* const giving_back = std::get_if<releasing>(&machine_)) {
      obey(giving_back->on_timer(at));
    }
  }
  tell_site(was_held);
}

void tenure::conclude(ending what, std::optional<errc> code, std::string_view detail) noexcept {
  if (ended_ == ending::refused) return;  // how the way back ends, nobody asks
  ended_ = what;
  failed_ = code.value_or(errc{});
  why_failed_.reset();
  if (!code || detail.empty()) return;
  try {
    why_failed_ = std::make_unique<std::string>(detail);
  } catch (const std::bad_alloc&) {  // that it failed matters more than why
  }
}

// Whoever waits may be gone, and this with him, as soon as he is told.
void tenure::tell() {
  const auto who = std::exchange(listener_, {});
  who.tell(engine_);
}

void tenure::finish() {
  leave_room();
  engine_.timers().disarm(*this);
  set_busy(false);
}

// While busy it keeps itself alive, and keeps the client from being closed over it: but not over
// giving back a lease that has ended, or that the server has left without an answer.
void tenure::set_busy(bool busy) {
  if (busy == (self_ != nullptr)) return;
  if (busy) {
    self_ = shared_from_this();
    if (delays_closing_) engine_.began();
  } else {
    if (delays_closing_) engine_.ended();
    self_.reset();  // every caller keeps a reference of his own
  }
}

// It may be busy already: its grant waits for replicas.
void tenure::delay_closing(bool does) {
  if (self_ != nullptr && delays_closing_ && !does) engine_.ended();
  delays_closing_ = does;
}

void tenure::on_shut_down() noexcept {
  const scoped_mutex lock(mutex_);
  set_busy(false);
}

}  // namespace holdfast::runtime
