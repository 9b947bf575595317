// A tenure that has the lock.
#include <algorithm>
#include <utility>

#include "lease/deadline.hpp"
#include "lease/server_clock.hpp"
#include "net/clock.hpp"
#include "runtime/blocking_request.hpp"
#include "runtime/clock_rate.hpp"
#include "runtime/lock_site.hpp"
#include "runtime/loss_notice.hpp"
#include "runtime/tenure.hpp"

namespace holdfast::runtime {
namespace {

// Renewals that are due at about the same time share a command, so their times are rounded up a
// little: to 1/256 of the lease, at most 100 ms.
monotonic_time together(monotonic_time at, milliseconds lease) noexcept {
  const nanoseconds grain =
      std::clamp<nanoseconds>(lease / 256, milliseconds{1}, milliseconds{100});
  const auto since = at.time_since_epoch();
  return monotonic_time{(since + grain - nanoseconds{1}) / grain * grain};
}

}  // namespace

monotonic_time tenure::present() noexcept { return follow_clock_rate(net::now()); }

bool tenure::held() const noexcept { return remaining() > nanoseconds{0}; }

nanoseconds tenure::remaining() const noexcept {
  return engine_.is_in_its_process() ? remaining(net::now()) : nanoseconds{0};
}

nanoseconds tenure::remaining(monotonic_time now) const noexcept {
  if (!held_.load(std::memory_order_acquire)) return {};
  const monotonic_time until{nanoseconds{deadline_.load(std::memory_order_relaxed)}};
  return std::max(nanoseconds{0}, until - now);
}

std::stop_token tenure::lost() {
  const scoped_mutex lock(mutex_);
  if (!lost_.stop_possible()) {
    lost_ = std::stop_source{};
    listened_ = true;
    if (was_lost_) lost_.request_stop();  // nobody can listen to it yet
  }
  return lost_.get_token();
}

void tenure::change_hands() {
  if (!listened_) return;
  const scoped_mutex lock(mutex_);
  lost_ = std::stop_source{std::nostopstate};
  listened_ = false;
}

void tenure::hold(const leasing::acquire_outcome& got) {
  claim_.granted = got.grant.major;
  if (spec_->is_counted()) engine_.raise_floor(spec_->key.slot(), got.grant.major);
  // In a cluster a command is of one hash slot.
  const auto beat = engine_.is_cluster() ? holding::beat{spec_->key.slot()} : std::nullopt;
  // Nothing is held at a gate that could be confirmed.
  const bool is_told = got.by_message && !spec_->is_gate;
  auto& machine = machine_.emplace<holding>(spec_->lease, spec_->renews, got.grant.ttl,
                                            got.granted_at, got.deadline, beat, is_told);
  const auto* const changed = spec_->changes();
  machine.on_extending(claim_.replaced_lease);
  // It may have been extended while the change waited.
  const auto left = changed != nullptr ? changed->remaining() : nanoseconds{0};
  if (left > nanoseconds{0}) machine.on_extending(leasing::lease_with_deadline_in(left));
  deadline_.store(machine.deadline().time_since_epoch().count(), std::memory_order_relaxed);
  held_.store(true, std::memory_order_release);
  if (is_listed()) engine_.held().sample(spec_->key, got.granted_at);
  next_at_ = is_listed() ? got.granted_at + noted_after : monotonic_time::max();
  obey(machine.start());
  if (outgoing_.in_doubt) obey(machine.on_doubt(net::now()));
  // Its loss has been told, and a change does not bring it back.
  if (changed != nullptr && !changed->wants_renewal()) {
    return refuse({errc::lost, "the lease that was to be changed has ended meanwhile"});
  }
  // A holder that changes what it has would lose it, were the change taken back; and at a gate
  // nothing is held that could be.
  const bool counts_at_once = spec_->changes() != nullptr || spec_->is_gate;
  auto* const replicas = engine_.replicas_of(spec_->key.slot());
  if (replicas == nullptr || counts_at_once) return tell_grant();
  ended_ = ending::replicating;
  replicas->confirm(shared_from_this());
}

void tenure::tell_grant() {
  conclude(ending::asking, std::nullopt, {});
  set_busy(false);
  tell();
}

void tenure::on_replicated(std::optional<leasing::outcome> refusal) {
  const auto alive = shared_from_this();
  const scoped_mutex lock(mutex_);
  if (ended_ != ending::replicating) return;
  if (refusal) return refuse(*std::move(refusal));
  tell_grant();
}

// Its way back begins before its caller hears of it, who may ask again.
void tenure::refuse(leasing::outcome why) {
  conclude(ending::refused, why.code, why.detail);
  const auto who = std::exchange(listener_, {});
  begin_release({});
  who.tell(engine_);
}

void tenure::obey(const leasing::hold_step& step) {
  const auto& machine = std::get<holding>(machine_);
  if (step.renew) engine_.renewals().add(shared_from_this());
  if (step.wake_at) {
    const auto shared = together(*step.wake_at, spec_->lease);
    const auto at = shared < machine.deadline() ? shared : *step.wake_at;
    engine_.timers().arm(*this, std::min(at, next_at_));
  }
  deadline_.store(machine.deadline().time_since_epoch().count(), std::memory_order_relaxed);
  if (step.lost) lose();
}

// Should this client end without a release, as late as just before the next time, the entry still
// outlives what the server keeps for it then.
void tenure::list_when_due(monotonic_time now) {
  if (now < next_at_) return;
  const auto left = std::chrono::ceil<milliseconds>(remaining(now));
  const auto kept = spec_->renews ? std::max<milliseconds>(left, spec_->lease) : left;
  engine_.held().note(spec_->key, kept + claim_.delay + noted_every + noted_every / 2);
  next_at_ = now + noted_every;
}

// A gate is shut while somebody waits there.
void tenure::list_gate_when_due(monotonic_time now) {
  if (!spec_->is_gate || spec_->foreign || now < next_at_) return;
  engine_.held().note(spec_->key, 2 * noted_every);
  next_at_ = now + noted_every;
}

// Entries of long leases would pile up. Those of short ones end by themselves.
void tenure::list_no_longer(monotonic_time now) {
  const bool is_long = spec_->lease + claim_.delay > 2 * noted_every;
  const bool is_noted = next_at_ > now + noted_after;
  if (is_long && is_noted) engine_.held().note_released(spec_->key);
}

void tenure::lose() {
  held_.store(false, std::memory_order_release);
  was_lost_ = true;
  engine_.timers().disarm(*this);
  if (lost_.stop_possible()) engine_.callbacks().post(*new loss_notice{lost_});
}

// Those who wait for another thread to release a lock, or to change it, need not wait when it is
// lost.
void tenure::tell_site(bool was_held) {
  if (!was_held || held_.load(std::memory_order_acquire)) return;
  if (site_ != nullptr) site_->lost(*this);
  if (changes_ > 0) engine_.waiting().wake_changes_of(*this);
}

// The server keeps it longer than we count on.
dialects::renew_verdict tenure::without_delay(dialects::renew_verdict verdict) const {
  auto* const got = std::get_if<dialects::renewed>(&verdict);
  if (got != nullptr) got->ttl -= claim_.delay;
  return verdict;
}

void tenure::on_renewed(const dialects::renew_verdict& said, monotonic_time sent_at) {
  const auto verdict = without_delay(said);
  const bool is_gone = std::holds_alternative<dialects::not_mine>(verdict);
  if (is_gone && changes_ > 0) return on_renewal_missing();
  const bool was_held = held_.load(std::memory_order_acquire);
  {
    const scoped_mutex lock(mutex_);
    if (auto* const machine = std::get_if<holding>(&machine_)) {
      obey(machine->on_renewed(verdict, sent_at, follow_clock_rate(net::now())));
      if (std::holds_alternative<dialects::renewed>(verdict)) confirm_mode();
    }
  }
  tell_site(was_held);
}

// It is held as far as the old server knew, or is about to be: its answer may be under way. One
// that the old server did not answer is asked for at once; those who stand in line are told by the
// waiting room.
void tenure::on_other_server(const redis::slot_set& of) {
  if (!of[slot()]) return;
  const bool was_held = held_.load(std::memory_order_acquire);
  {
    const scoped_mutex lock(mutex_);
    outgoing_.in_doubt = true;
    if (auto* const machine = std::get_if<holding>(&machine_)) {
      if (is_listed()) next_at_ = net::now() + noted_after;  // it may not know of this one
      obey(machine->on_doubt(net::now()));
    } else if (auto* const asking = std::get_if<acquiring>(&machine_); asking && line_ == nullptr) {
      obey(asking->on_woken(present()));
    }
  }
  tell_site(was_held);
}

void tenure::on_renewal_missing() {
  const bool was_held = held_.load(std::memory_order_acquire);
  {
    const scoped_mutex lock(mutex_);
    if (auto* const machine = std::get_if<holding>(&machine_)) {
      obey(machine->on_missing(net::now()));
    }
  }
  tell_site(was_held);
}

result<void> tenure::extend(milliseconds duration) {
  if (spec_->foreign) dialects::check_longest_lease(*spec_->foreign, duration);
  engine_.register_client(duration);
  {
    const scoped_mutex lock(mutex_);
    if (auto* const machine = std::get_if<holding>(&machine_)) machine->on_extending(duration);
  }
  dialects::claim longer = claim_;
  longer.lease = duration;
  const dialects::claim* const only = &longer;
  const auto timeout = engine_.options().response_timeout;
  const bound within{net::now() + engine_.options().connect_timeout + timeout};
  blocking_request asked([&](resp::writer& out, monotonic_time sent_at) {
    const auto sent = engine_.clock(slot()).at(sent_at);
    spec_->recipe->write_renew({&only, 1}, leasing::not_after(sent, timeout), out);
  });
  for (bool again = true;; again = false) {
    if (!held()) return failure{errc::lost, "the lease had ended before it was extended"};
    auto answer = asked.run(engine_.connection(slot()), within);
    if (!answer) return answer.error();
    const auto verdict = without_delay(spec_->recipe->read_renew(*answer, 0));
    const auto now = follow_clock_rate(net::now());
    if (const auto* late = std::get_if<dialects::late>(&verdict)) {
      engine_.clock(slot()).learn(asked.sent_at(), now, late->now);
      if (again) continue;
      return failure{errc::clock_skew, "the server finds the request too old"};
    }
    if (const auto* no = std::get_if<dialects::refused>(&verdict))
      return failure{no->code, no->detail};
    return extended(verdict, duration, asked.sent_at(), now);
  }
}

result<void> tenure::extended(const dialects::renew_verdict& verdict, milliseconds asked,
                              monotonic_time sent_at, monotonic_time now) {
  const auto* const got = std::get_if<dialects::renewed>(&verdict);
  if (got == nullptr && changes_ > 0) {
    return failure{errc::busy, "the lease is being changed into another"};
  }
  const bool was_held = held_.load(std::memory_order_acquire);
  bool is_held = false;
  {
    const scoped_mutex lock(mutex_);
    auto* const machine = std::get_if<holding>(&machine_);
    if (machine == nullptr) return failure{errc::lost, "the lease was released meanwhile"};
    if (is_listed() && asked > noted_every / 2) next_at_ = std::min(next_at_, now + noted_after);
    obey(got != nullptr ? machine->on_extended(got->ttl, asked, sent_at, now)
                        : machine->on_renewed(verdict, sent_at, now));
    is_held = machine->held(now);
  }
  tell_site(was_held);
  if (got == nullptr) {
    return failure{errc::lost, "the server has given the lock to somebody else"};
  }
  if (!is_held) return failure{errc::lost, "the lease had ended before it was extended"};
  return {};
}

}  // namespace holdfast::runtime
