// One lock of one attempt.
#include <utility>

#include "simulation/proof.hpp"
#include "simulation/several_world.hpp"

namespace holdfast::simulation::several {

using leasing::ask;

part::part(customer& of, const lock_key& key, milliseconds lease, leasing::patience patience)
    : of_(of),
      life_(of.life()),
      claim_{.key = &key, .owner = of.next_request(), .lease = lease, .waits = patience.waits} {
  claim_.proof = proof_of(claim_.owner.counter());
  asks_.emplace(claim_, patience,
                leasing::acquire_machine::settings{.response_timeout = response_timeout,
                                                   .seed = claim_.owner.counter()});
}

bool part::believes() const { return holds_ && holds_->held(of_.now()); }

void part::start() { obey(asks_->start(of_.now())); }

void part::stop() {
  if (asks_) obey(asks_->on_stop(of_.now()));
}

void part::woken() {
  if (asks_) obey(asks_->on_woken(of_.now()));
}

void part::give_back() {
  if (!holds_) return;
  const auto deadline = holds_->deadline();
  holds_.reset();
  gives_back_.emplace(claim_, deadline, claim_.owner.counter());
  obey(gives_back_->start(of_.now()));
}

void part::answered(const resp::value* reply, monotonic_time sent_at) {
  const auto alive = shared_from_this();
  const auto now = of_.now();
  answered_ = reply != nullptr;
  if (asks_ && reply == nullptr) {
    obey(asks_->on_missing(no_answer::unknown, {errc::unavailable, "lost"}, now));
  } else if (asks_ && asked_ == ask::acquire) {
    const auto verdict = how().read_acquire(claim_, *reply);
    obey(asks_->on_acquired(verdict, of_.clock().local(sent_at), now));
  } else if (asks_) {
    obey(asks_->on_given_back(how().read_release(*reply), now));
  } else if (gives_back_) {
    obey(reply != nullptr ? gives_back_->on_given_back(how().read_release(*reply), now)
                          : gives_back_->on_missing(no_answer::unknown, now));
  }
  answered_ = false;
}

void part::heard(const dialects::first_in_line& what) {
  if (asks_) obey(asks_->on_first_in_line(what.owner_has, of_.now()));
}

void part::heard(const dialects::handed_over& what) {
  if (!asks_) return;
  ++of_.where().result().handed_over;
  const auto alive = shared_from_this();
  if (!dialects::is_for(what, how().queue_family(), claim_)) return;
  const auto next =
      dialects::is_plausible(what, claim_)
          ? asks_->on_handed_over({what.major, what.claim}, *of_.earliest(what.at), of_.now())
          : asks_->on_woken(of_.now());
  obey(next);
}

void part::obey(const leasing::step& step) {
  const auto alive = shared_from_this();
  if (step.wake_at) wake_at(*step.wake_at);
  if (step.send != ask::nothing) send(step.send, step.resend);
  if (step.done && !step.done->code) return hold(*step.done);
  if (step.finished) finished();
  if (step.done) {
    told_ = true;
    of_.failed(*this);
  }
}

void part::hold(const leasing::acquire_outcome& got) {
  claim_ = asks_->claim();
  claim_.granted = got.grant.major;
  asks_.reset();
  holds_.emplace(claim_.lease, true, got.grant.ttl, got.granted_at, got.deadline,
                 leasing::hold_machine::beat{}, got.by_message);
  obey(holds_->start());
  of_.got(*this);
}

void part::obey(const leasing::hold_step& step) {
  if (step.renew) renew();
  if (step.wake_at) wake_at(*step.wake_at);
  if (!step.lost) return;
  ++of_.where().result().losses;
  of_.lost(*this);
}

void part::obey(const leasing::release_step& step) {
  const auto alive = shared_from_this();
  if (step.wake_at) wake_at(*step.wake_at);
  if (step.send != ask::nothing) send(step.send, step.resend);
  if (step.finished) finished();
}

// What was not answered may have been left behind: then the lease ends it.
void part::finished() {
  if (!answered_) {
    of_.where().unconfirmed(owner());
  } else if (of_.where().owner_of(key()) == owner() && !of_.where().is_unconfirmed(owner())) {
    of_.where().violated("A2: " + owner() + " was left behind");
  }
  asks_.reset();
  gives_back_.reset();
  of_.ended(*this);
}

void part::send(ask what, bool resend) {
  asked_ = what;
  if (of_.joins(shared_from_this())) return;
  std::string bytes;
  resp::writer out{bytes};
  if (what == ask::acquire) how().write_acquire(claim_, resend, of_.not_after(), out);
  if (what == ask::release) how().write_release(claim_, out);
  if (what == ask::withdraw) how().write_withdraw(claim_, out);
  of_.transmit(std::move(bytes), {},
               [self = shared_from_this()](const resp::value* reply, monotonic_time sent_at) {
                 self->answered(reply, sent_at);
               });
}

void part::renew() {
  std::string bytes;
  resp::writer out{bytes};
  const dialects::claim* const only = &claim_;
  how().write_renew({&only, 1}, of_.not_after(), out);
  of_.transmit(std::move(bytes), {},
               [self = shared_from_this()](const resp::value* reply, monotonic_time sent_at) {
                 self->renewed(reply, sent_at);
               });
}

void part::renewed(const resp::value* reply, monotonic_time sent_at) {
  if (!holds_) return;
  const auto now = of_.now();
  if (reply == nullptr) return obey(holds_->on_missing(now));
  const auto verdict = how().read_renew(*reply, 0);
  if (const auto* late = std::get_if<dialects::late>(&verdict)) of_.learn(sent_at, late->now);
  obey(holds_->on_renewed(verdict, of_.clock().local(sent_at), now));
}

void part::wake_at(monotonic_time local) {
  of_.later(of_.clock().world(local), [self = shared_from_this(), mine = ++timer_] {
    if (mine != self->timer_) return;
    const auto now = self->of_.now();
    if (self->holds_) return self->obey(self->holds_->on_timer(now));
    if (self->gives_back_) return self->obey(self->gives_back_->on_timer(now));
    if (self->asks_) self->obey(self->asks_->on_timer(now));
  });
}

}  // namespace holdfast::simulation::several
