// One lock of one attempt.
#include <utility>

#include "simulation/proof.hpp"
#include "simulation/several_world.hpp"

namespace holdfast::simulation::several {

using leasing::ask;

part::part(customer& of, const lock_key& key, milliseconds lease, leasing::patience patience)
    : of_(of),
      life_(of.life()),
      claim_{.key = &key, .owner = of.next_request(), .lease = lease, .waits = patience.waits},
      session_(claim_, patience, {.response_timeout = short_milliseconds{response_timeout}},
               leasing::while_busy, claim_.owner.counter()) {
  claim_.proof = proof_of(claim_.owner.counter());
}

bool part::believes() const { return session_.has_lease() && of_.now() < session_.deadline(); }

void part::start() { obey(session_.begin(of_.now())); }

void part::stop() { obey(session_.on_stop(of_.now())); }

void part::woken() { obey(session_.on_woken(of_.now())); }

void part::give_back() { obey(session_.release(of_.now())); }

void part::answered(const resp::value* reply, monotonic_time sent_at) {
  const auto alive = shared_from_this();
  const auto now = of_.now();
  answered_ = reply != nullptr;
  if (reply == nullptr) {
    obey(session_.on_missing(no_answer::unknown, {errc::unavailable, "lost"}, now));
  } else if (asked_ == ask::acquire) {
    const auto verdict = how().read_acquire(claim_, *reply);
    obey(session_.on_acquired(verdict, of_.clock().local(sent_at), now));
  } else {
    obey(session_.on_given_back(how().read_release(*reply), now));
  }
  answered_ = false;
}

void part::heard(const dialects::first_in_line& what) {
  obey(session_.on_first_in_line(what.owner_has, of_.now()));
}

void part::heard(const dialects::handed_over& what) {
  if (session_.can_be_released() || !session_.may_hear_of_its_grant()) return;
  ++of_.where().result().handed_over;
  const auto alive = shared_from_this();
  if (!dialects::is_for(what, how().queue_family(), claim_)) return;
  const auto next =
      dialects::is_plausible(what, claim_)
          ? session_.on_handed_over({what.major, what.claim}, *of_.earliest(what.at), of_.now())
          : session_.on_woken(of_.now());
  obey(next);
}

void part::obey(const leasing::effects& all) {
  const auto alive = shared_from_this();
  if (all.renew) renew();
  if (all.wake_at) wake_at(*all.wake_at);
  if (all.send != ask::nothing) send(all.send, all.resend);
  if (all.granted) of_.got(*this);
  if (all.lost) {
    ++of_.where().result().losses;
    of_.lost(*this);
  }
  const bool is_over = session_.present_state() == leasing::lock_session::state::over;
  if (is_over && !std::exchange(is_over_, true)) finished();
  if (all.ended && !std::exchange(told_, true) && all.ended->code) of_.failed(*this);
}

// A lock whose request was not answered may have been left behind: then the lease ends it.
void part::finished() {
  if (!answered_) {
    of_.where().unconfirmed(owner());
  } else if (of_.where().owner_of(key()) == owner() && !of_.where().is_unconfirmed(owner())) {
    of_.where().violated("A2: " + owner() + " was left behind");
  }
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
  const substrate::claim* const only = &claim_;
  how().write_renew({&only, 1}, of_.not_after(), out);
  of_.transmit(std::move(bytes), {},
               [self = shared_from_this()](const resp::value* reply, monotonic_time sent_at) {
                 self->renewed(reply, sent_at);
               });
}

void part::renewed(const resp::value* reply, monotonic_time sent_at) {
  if (!session_.can_be_released()) return;
  const auto now = of_.now();
  if (reply == nullptr) return obey(session_.on_renewal_missing(now));
  const auto verdict = how().read_renew(*reply, 0);
  if (const auto* late = std::get_if<substrate::late>(&verdict)) of_.learn(sent_at, late->now);
  obey(session_.on_renewed(verdict, of_.clock().local(sent_at), false, now));
}

void part::wake_at(monotonic_time local) {
  of_.later(of_.clock().world(local), [self = shared_from_this(), mine = ++timer_] {
    if (mine == self->timer_) self->obey(self->session_.on_timer(self->of_.now()));
  });
}

}  // namespace holdfast::simulation::several
