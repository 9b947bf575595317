// A client that has the lock, and gives it back.
#include <algorithm>
#include <utility>

#include "simulation/client.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

using namespace std::chrono_literals;

void client::hold(const leasing::acquire_outcome& got) {
  auto& dice = world_.chance();
  claim_ = acquiring_->claim();
  acquiring_.reset();
  served_ = true;
  turns_.on_granted(got.grant.major, claim_.ticket != 0, now());
  take(got, history::kind::won);
  if (world_.faults() && dice.chance(10)) freeze(world_.longest_freeze());
  obey(holding_->start());
  use_it();
  plan_change();
}

void client::use_it() {
  auto& dice = world_.chance();
  const auto used = dice.time_up_to(dice.chance(world_.short_uses()) ? 5ms : world_.longest_use());
  later(world_.now() + used, [this, mine = tenure_] {
    if (mine != tenure_ || !holding_) return;
    if (lost_) return release();
    obey(turns_.on_released(seen()));
    if (turns_.is_idle()) retain();
  });
}

// From now on it believes in this.
void client::take(const leasing::acquire_outcome& got, history::kind how) {
  if (got.grant.major <= std::max(floor_, claim_.floor)) {
    world_.check().violated("S2: a client believes in a token that is not above those it has seen");
  }
  claim_.granted = got.grant.major;
  floor_ = std::max(floor_, got.grant.major);
  // An answer that was late has left little of its lease, and what made it late may last.
  undisturbed_ = got.deadline - now() > got.grant.ttl / 2 && !wire_.stalls();
  granted_at_ = got.granted_at;
  const auto evidence =
      granted_by_answer_ ? *answer_sent_at_
                         : world_.check().evidence_for(got.grant.major, sampled_at_, world_.now());
  mode_is_unclear_ = false;
  belief_ = {std::string{claim_.owner.text()}, got.grant.major, share_of(claim_.wants),
             clock_.world(got.deadline), evidence};
  if (world_.check().is_disrupted_since(evidence)) undisturbed_ = hears_all_ = false;
  tell_belief(how);
  world_.believes(*this, belief_, !granted_by_answer_);
  if (granted_by_answer_) {
    world_.check().believed_no_less(belief_, dialects::asked_time(claim_), claim_.delay,
                                    world_.now());
  }
  holding_.emplace(claim_.lease, renews_, got.grant.ttl, got.granted_at, got.deadline,
                   leasing::hold_machine::beat{}, got.by_message);
}

void client::obey(const leasing::hold_step& step) {
  if (step.renew) send_renewal();
  if (step.wake_at) wake_at(*step.wake_at);
  if (!step.lost) return;
  world_.lost();
  tell({.what = history::kind::lost});
  lost_ = true;
  check_loss();
  if (turns_.is_idle()) return obey(turns_.on_lost());
  // A change that was under way already may reach the server when it has ended there as well.
  if (changing_ || !world_.is_harsh() || !world_.chance().chance(20)) return;
  later(world_.now() + world_.chance().time_up_to(50ms), [this, mine = tenure_] {
    if (mine == tenure_) begin_change();
  });
}

void client::check_loss() const {
  if (believes()) world_.check().violated("S4: a lost lease says that it is held");
  if (!undisturbed_) return;
  const nanoseconds lease = claim_.lease;
  if (renews_ || now() < granted_at_ + lease - lease / 50 - 5ms) {
    world_.check().violated("S4: a lease has ended before its time");
  }
}

void client::send_renewal() {
  connect();
  parcel sent{.what = use::renewal, .repeatable = true};
  resp::writer out{sent.bytes};
  const dialects::claim* const only = &claim_;
  world_.of().recipe->write_renew({&only, 1}, leasing::not_after(sending(), response_timeout), out);
  sent.executed = [](const resp::value&) {};
  wire_.transmit(std::move(sent));
}

void client::renewed(const resp::value& reply, monotonic_time sent_at) {
  auto verdict = world_.of().recipe->read_renew(reply, 0);
  // The server keeps it longer than is counted on.
  if (auto* const kept = std::get_if<dialects::renewed>(&verdict)) kept->ttl -= claim_.delay;
  if (const auto* late = std::get_if<dialects::late>(&verdict)) learn(sent_at, late->now);
  // Perhaps what it wants instead was granted, and it has not heard of that yet.
  if (changing_ && std::holds_alternative<dialects::not_mine>(verdict)) {
    return obey(holding_->on_missing(now()));
  }
  const auto before = holding_->deadline();
  const auto step = holding_->on_renewed(verdict, clock_.local(sent_at), now());
  if (holding_->deadline() > before) {
    belief_.deadline = clock_.world(holding_->deadline());
    belief_.evidence = sent_at;
    if (believes()) tell_belief(history::kind::held);
    world_.check().believed(belief_, world_.now());
  }
  const bool found = std::holds_alternative<dialects::renewed>(verdict);
  if (found && !holding_->is_doubted() && std::exchange(mode_is_unclear_, false) && !changing_) {
    belief_.has = share_of(claim_.wants);
    if (believes()) tell_belief(history::kind::believed);
  }
  obey(step);
}

void client::release() {
  if (changing_) {
    releases_then_ = true;
    if (world_.faults() && world_.chance().chance(50)) {
      obey_change(changing_->on_stop(now()));
    }
    return;
  }
  const auto deadline = holding_->deadline();
  if (now() >= deadline && !lost_ && world_.now() > std::max(frozen_until_, belief_.deadline)) {
    world_.check().violated("S4: the end of a lease was not reported");
  }
  keeps_since_.reset();
  tell({.what = history::kind::releasing});
  holding_->on_released();
  holding_.reset();
  wire_.forget(use::renewal);
  releasing_.emplace(claim_, deadline, requests_);
  obey(releasing_->start(now()));
}

void client::obey(const leasing::release_step& step) {
  if (step.wake_at) wake_at(*step.wake_at);
  if (step.send != leasing::ask::nothing) send(step.send, step.resend);
  if (!step.finished) return;
  tell({.what = history::kind::released, .note = answer_sent_at_ ? "" : "unconfirmed"});
  // Giving up a change may reach the server late, and make what was held before held again.
  if (answer_sent_at_ && !change_is_unclear_)
    world_.check().left(claim_.owner.text(), world_.now());
  rest();
}

}  // namespace holdfast::simulation
