#include "redis/locks/redis_lock.hpp"

#include <algorithm>
#include <utility>

#include "net/clock.hpp"
#include "redis/dialects/foreign_recipe.hpp"
#include "redis/locks/extending.hpp"
#include "redis/locks/joint_request.hpp"
#include "redis/locks/words.hpp"
#include "runtime/executor.hpp"

namespace holdfast::redis_locks {

redis_lock::redis_lock(redis_engine& owner, const std::shared_ptr<const lock_spec>& spec,
                       leasing::patience patience, bool may_stop, local_lock* local)
    : lock_driver(owner, {spec, patience, may_stop, local}, claim_of(owner, *spec, patience),
                  terms_of(owner, *spec)) {}

// ---- what the server answers -------------------------------------------------------------------

void redis_lock::on_reply(resp::value& reply) {
  happen([&](auto& its) { return heard(its, reply); }, true);
}

leasing::effects redis_lock::heard(leasing::lock_session& its, const resp::value& reply) {
  const auto now = present();
  const auto& recipe = *spec().recipe;
  if (outgoing_.held_back) {
    return its.on_missing(no_answer::not_sent, outgoing::in_quarantine(), now);
  }
  if (outgoing_.what == leasing::ask::acquire) {
    const auto verdict = recipe.read_acquire(claim_, reply);
    return its.on_acquired(verdict, sent_at(), now, position());
  }
  return its.on_given_back(recipe.read_release(reply), now);
}

void redis_lock::on_failed(no_answer what, const redis::breakdown& why) {
  happen([&](auto& its) { return its.on_missing(what, {why.code, why.detail}, present()); });
}

void redis_lock::on_renewed(const substrate::renew_verdict& verdict, monotonic_time sent_at) {
  nanoseconds lateness{0};
  happen([&](auto& its) {
    const auto now = present();
    lateness = its.renewal_lateness(now);
    return its.on_renewed(verdict, sent_at, is_being_changed(), now);
  });
  if (lateness == nanoseconds{0} || !std::holds_alternative<substrate::renewed>(verdict)) return;
  owner().report({.type = event_type::renewed_late,
                  .name = name(),
                  .kind = spec().kind(),
                  .duration = lateness});
}

void redis_lock::on_renewal_missing() {
  happen([](auto& its) { return its.on_renewal_missing(net::now()); });
}

void redis_lock::on_replicated(const std::optional<leasing::outcome>& refusal) {
  happen([&](auto& its) { return its.on_replicated(refusal, net::now()); });
}

// ---- what it says unasked ----------------------------------------------------------------------

// The same message of another node is no news.
void redis_lock::on_message(const master& from, const line_message& message) {
  if (&owner().at(slot()) != &from) return;
  if (std::holds_alternative<dialects::first_in_line>(message.what)) {
    owner().connection(slot()).expect_push();
  }
  happen([&](auto& its) { return hear(its, message); });
}

leasing::effects redis_lock::hear(leasing::lock_session& its, const line_message& message) {
  // As if it had been lost: it is asked again when the quarantine is over.
  const auto ends = owner().quarantine_ends();
  if (ends != monotonic_time{} && net::now() < ends) return {};
  const auto now = present();
  const auto position = message.position;
  if (const auto* const first = std::get_if<dialects::first_in_line>(&message.what)) {
    return its.on_first_in_line(first->owner_has, now, position);
  }
  const auto& grant = std::get<dialects::handed_over>(message.what);
  if (!dialects::is_for(grant, spec().recipe->queue_family(), claim_)) return {};
  const auto granted_at = owner().clock(slot()).earliest(grant.at);
  if (!granted_at || !dialects::is_plausible(grant, claim_)) return its.on_woken(now);
  const milliseconds ours = grant.claim - claim_.delay;
  return its.on_handed_over({grant.major, ours}, *granted_at, now, position);
}

void redis_lock::on_woken() {
  happen([](auto& its) { return its.on_woken(present()); });
}

void redis_lock::on_tuned_in(bool hears) {
  if (!spec().foreign) return;
  happen([hears](auto& its) { return its.on_tuned_in(hears, present()); });
}

// A request that the old server did not answer is sent at once; those in line are told by the
// waiting room. The index may not know of a lease.
void redis_lock::on_doubt(const slot_set& of) {
  if (!of[slot()]) return;
  note_soon(net::now());
  happen([](auto& its) { return its.on_doubt(net::now()); });
  const scoped_mutex lock(mutex_);
  if (!line_.is_entered()) obey(session().on_woken(present()));
}

void redis_lock::on_timer(monotonic_time at) {
  {
    const scoped_mutex lock(mutex_);
    if (session_.has_lease()) indexed_.note_when_due(owner(), spec(), remaining(at), at);
    if (session_.is_asking()) indexed_.note_gate_when_due(owner(), spec(), at);
  }
  lock_driver::on_timer(at);
}

// ---- what is asked -----------------------------------------------------------------------------

void redis_lock::post(const leasing::effects& what, runtime::listener& who, bool drives) {
  // Each time: the registry must not forget a client that waits for long.
  const bool acquires = what.send == leasing::ask::acquire;
  if (acquires) owner().register_client(spec().lease);
  if (acquires && what.resend && claim_.waits) line_.expect_grant(*this);
  outgoing_ = {.what = what.send, .resend = what.resend};
  // As the session counts it, which may have been told late: with the time of a timer.
  if (acquires) outgoing_.not_after = session_.executable_until();
  if (auto* const all = std::exchange(who.together, nullptr)) return all->add(self());
  set_sleeper(who.sleeper != nullptr    ? who.sleeper
              : who.executor != nullptr ? &who.executor->waiter()
                                        : nullptr);
  using delivery = redis::connection::delivery;
  owner().connection(slot()).submit(*this, drives         ? delivery::driven
                                           : who.exists() ? delivery::prompt
                                                          : delivery::lazy);
}

// It may have ended just now, or by a message that had come before.
void redis_lock::listen() {
  if (session_.hears_messages() && !owner().hears()) obey(session().on_deaf(present()));
  if (session_.hears_messages()) {
    if (const auto said = line_.enter(*this, caller_.who.sleeper)) obey(hear(session(), *said));
  }
  if (session_.hears_messages()) line_.listen_in_slot(*this);
  if (!spec().foreign || !session_.is_polling() || !line_.tune_in(*this)) return;
  obey(session().on_tuned_in(true, present()));
}

void redis_lock::carry_out(const leasing::effects& all) {
  if (all.learned) owner().clock(slot()).learn(sent_at(), net::now(), *all.learned);
  if (all.granted) {
    if (spec().usual.is_counted) owner().raise_floor(slot(), claim_.granted);
    indexed_.begin(owner(), spec(), *all.granted);
  }
  if (all.gives_back) indexed_.end(owner(), spec(), net::now());
  if (line_.is_used()) {
    if (!session_.is_asking()) line_.leave(*this);
    if (!session_.may_hear_of_its_grant()) line_.expect_no_grant(*this);
  }
  if (all.renew) owner().renewals().add(self());
  if (all.replicate) owner().replicas_of(slot())->confirm(self());
}

monotonic_time redis_lock::fires_at(monotonic_time at) const {
  const auto shared = renewals::together(at, spec().lease);
  return std::min(shared < session_.deadline() ? shared : at, indexed_.due_at());
}

result<void> redis_lock::extend(milliseconds duration) {
  if (spec().foreign) dialects::check_longest_lease(*spec().foreign, duration);
  owner().register_client(duration);
  return lock_driver::extend(duration);
}

bool redis_lock::set_note(std::string_view text) noexcept {
  if (spec().foreign) return false;
  owner().notes().set(spec().key, major(), text);
  return true;
}

result<lock_driver::extension_answer> redis_lock::ask_to_extend(milliseconds duration) {
  auto answer = ask_for_extension(owner(), spec(), claim_, *this, duration);
  if (answer && duration > noted_every / 2) note_soon(answer->answered_at);
  return answer;
}

void redis_lock::note_soon(monotonic_time now) {
  const scoped_mutex lock(mutex_);
  if (session_.has_lease()) indexed_.note_soon(spec(), now);
}

}  // namespace holdfast::redis_locks
