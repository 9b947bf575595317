// One wish for the lock of a quorum, from asking to giving back.
#include <algorithm>
#include <utility>

#include "lease/deadline.hpp"
#include "simulation/quorum_world.hpp"

namespace holdfast::simulation::quorum {

using asked = leasing::member_ask::what;

wish::wish(candidate& of, milliseconds lease, bool renews, leasing::patience patience)
    : of_(of),
      life_(of.life()),
      lease_(lease),
      renews_(renews),
      since_(of.now()),
      asks_(patience, {.names = of.where().names(),
                       .lease = lease,
                       .member_timeout = std::min(response_timeout, lease / 4),
                       .seed = of.where().chance().roll()}),
      owner_(of.next_request()) {
  if (!patience.waits) return;
  for (std::size_t i = 0; i < of.where().size(); ++i) listeners_.push_back(of.next_request());
}

bool wish::believes() const { return holds_ && holds_->held(of_.now()); }

bool wish::hears(std::uint64_t request) const {
  return std::ranges::any_of(listeners_,
                             [&](const request_id& one) { return one.counter() == request; });
}

void wish::start() { obey(asks_.start(of_.now())); }
void wish::hint() { obey(asks_.on_hint(of_.now())); }
void wish::stop() { obey(asks_.on_stop(of_.now())); }

substrate::quorum_claim wish::claim() const {
  return {.key = &of_.where().key(), .owner = owner_, .lease = lease_, .token = asks_.token()};
}

// ---- asking ------------------------------------------------------------------------------------

void wish::obey(const leasing::quorum_step& step) {
  const auto alive = shared_from_this();
  if (!step.take_back.empty()) {
    auto returned = claim();
    returned.token = 0;
    const leasing::quorum_release_machine::scope where{
        .at = step.take_back,
        .in_doubt = step.in_doubt,
        .until = of_.now() + lease_ + response_timeout};
    std::make_shared<giving_back>(of_, where, returned,
                                  step.leaves ? listeners_ : std::vector<request_id>{})
        ->start();
  }
  if (step.new_request && asks_.attempt() > 1) owner_ = of_.next_request();
  if (step.new_request) {
    asked_at_ = of_.where().now();
    last_before_ = of_.where().last_token();
  }
  for (const auto& what : step.send) ask(what);
  if (step.wake_at) wake_at(*step.wake_at);
  if (!step.done) return;
  if (step.done->code) return of_.wanted() == this ? of_.failed() : void();
  hold(*step.done);
}

void wish::ask(const leasing::member_ask& what) {
  const auto i = what.member;
  if (what.asks == asked::confirm) return holds_ ? obey(holds_->confirm(i)) : void();
  auto wanted = claim();
  wanted.floor = of_.floor(i);
  const bool for_vote = what.asks == asked::vote || what.asks == asked::join;
  if (!listeners_.empty() && for_vote) {
    wanted.listener = listeners_[i];
    wanted.waited = std::chrono::floor<microseconds>(of_.now() - since_);
  }
  std::string bytes;
  resp::writer out{bytes};
  using substrate::newcomer;
  if (what.asks == asked::agree) {
    dialects::write_quorum_keep(wanted, false, longest_lease, of_.not_after(i), out);
  } else {
    const auto how = what.asks == asked::vote    ? newcomer::tells
                     : what.asks == asked::join  ? newcomer::joins
                     : what.asks == asked::enter ? newcomer::enters
                                                 : newcomer::waits;
    dialects::write_quorum_acquire(wanted, how, longest_lease, of_.not_after(i), out);
  }
  of_.to(i).send(std::move(bytes), [self = shared_from_this(), i, wanted, asks = what.asks,
                                    attempt = asks_.attempt()](const resp::value* reply,
                                                               monotonic_time sent_at,
                                                               no_answer how) {
    const auto now = self->of_.now();
    if (reply == nullptr) {
      return self->obey(self->asks_.on_missing(attempt, i, how, "lost", now));
    }
    self->of_.learn_if_late(i, sent_at, *reply);
    if (asks == asked::agree) {
      return self->obey(self->asks_.on_agreed(attempt, i, dialects::read_quorum_keep(*reply), now));
    }
    self->obey(self->asks_.on_vote(attempt, i, dialects::read_vote(wanted, *reply), sent_at, now));
  });
}

// ---- holding -----------------------------------------------------------------------------------

void wish::hold(const leasing::quorum_outcome& won) {
  of_.raise_floors(asks_.token());
  holds_.emplace(leasing::quorum_lease_machine::settings{lease_, response_timeout, renews_}, won);
  of_.where().granted(asks_.token(), last_before_, asked_at_);
  obey(holds_->start());
  of_.got();
}

void wish::obey(const leasing::quorum_lease_step& step) {
  const auto alive = shared_from_this();
  for (const auto i : step.renew) renew(i);
  if (step.wake_at) wake_at(*step.wake_at);
  if (step.lost) of_.lost();
}

void wish::renew(std::size_t i) {
  std::string bytes;
  resp::writer out{bytes};
  dialects::write_quorum_keep(claim(), true, longest_lease, of_.not_after(i), out);
  of_.to(i).send(
      std::move(bytes),
      [self = shared_from_this(), i](const resp::value* reply, monotonic_time sent_at, no_answer) {
        if (!self->holds_) return;
        const auto now = self->of_.now();
        if (reply == nullptr) return self->obey(self->holds_->on_missing(i, now));
        self->of_.learn_if_late(i, sent_at, *reply);
        self->obey(self->holds_->on_kept(i, dialects::read_quorum_keep(*reply), sent_at, now));
      });
}

void wish::give_back() {
  if (!holds_) return;
  holds_->on_released();
  leasing::quorum_release_machine::scope where{
      .in_doubt = holds_->in_doubt(of_.now()),
      .renewed = holds_->has_renewed(),
      .until = std::max(holds_->deadline(), of_.now() + longest_lease)};
  for (std::size_t i = 0; i < of_.where().size(); ++i) where.at.push_back(i);
  holds_.reset();
  std::make_shared<giving_back>(of_, where, claim(), listeners_)->start();
}

void wish::wake_at(monotonic_time local) {
  of_.later(of_.clock().world(local), [self = shared_from_this(), mine = ++timer_] {
    if (mine != self->timer_) return;
    const auto now = self->of_.now();
    if (self->holds_) return self->obey(self->holds_->on_timer(now));
    self->obey(self->asks_.on_timer(now));
  });
}

// ---- giving back -------------------------------------------------------------------------------

giving_back::giving_back(candidate& of, const leasing::quorum_release_machine::scope& where,
                         const substrate::quorum_claim& claim, std::vector<request_id> listeners)
    : of_(of),
      life_(of.life()),
      claim_(claim),
      listeners_(std::move(listeners)),
      until_(where.until),
      machine_(where, of.where().size(), leasing::too_late_from(of.now(), response_timeout),
               of.where().chance().roll()) {}

void giving_back::start() {
  of_.where().returning(claim_.owner);
  obey(machine_.start());
}

void giving_back::obey(const leasing::quorum_release_step& step) {
  if (step.finished && of_.now() < until_) of_.where().returned(claim_.owner);
  for (const auto i : step.send) {
    auto asks = claim_;
    if (!listeners_.empty()) asks.listener = listeners_[i];
    std::string bytes;
    resp::writer out{bytes};
    dialects::write_quorum_release(asks, listeners_.empty(), out);
    of_.to(i).send(std::move(bytes), [self = shared_from_this(), i](const resp::value* reply,
                                                                    monotonic_time, no_answer how) {
      self->answered(i, reply, how);
    });
  }
  if (!step.wake_at) return;
  of_.later(of_.clock().world(*step.wake_at), [self = shared_from_this(), mine = ++timer_] {
    if (mine == self->timer_) self->obey(self->machine_.on_timer(self->of_.now()));
  });
}

void giving_back::answered(std::size_t i, const resp::value* reply, no_answer how) {
  const auto now = of_.now();
  if (reply == nullptr) return obey(machine_.on_missing(i, how, now));
  obey(machine_.on_released(i, dialects::read_quorum_release(*reply), now));
}

}  // namespace holdfast::simulation::quorum
