// A client that has the lock, and gives it back.
#include <algorithm>
#include <utility>

#include "simulation/client.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

using namespace std::chrono_literals;

void client::use_it() {
  auto& dice = world_.chance();
  const auto used = dice.time_up_to(dice.chance(world_.short_uses()) ? 5ms : world_.longest_use());
  later(world_.now() + used, [this, mine = attempt_] {
    if (mine != attempt_ || !has_lock()) return;
    if (lost_) return release();
    obey(turns_.on_released(seen()));
    if (turns_.is_idle()) retain();
  });
}

// From now on it believes in this.
void client::take(request& got, monotonic_time granted_at, history::kind how) {
  const auto& claim = got.claim;
  const auto deadline = got.session.deadline();
  served_ = true;
  if (claim.granted <= std::max(floor_, claim.floor)) {
    world_.check().violated("S2: a client believes in a token that is not above those it has seen");
  }
  floor_ = std::max(floor_, claim.granted);
  // An answer that was late has left little of its lease, and what made it late may last.
  undisturbed_ = deadline - now() > (deadline - granted_at) / 2 && !wire_.stalls();
  granted_at_ = granted_at;
  const auto evidence = granted_by_answer_
                            ? *answer_sent_at_
                            : world_.check().evidence_for(claim.granted, sampled_at_, world_.now());
  belief_ = {got.name(), claim.granted, share_of(claim.wants), clock_.world(deadline), evidence};
  if (world_.check().is_disrupted_since(evidence)) undisturbed_ = hears_all_ = false;
  tell_belief(how);
  world_.believes(*this, belief_, !granted_by_answer_);
  if (granted_by_answer_) {
    world_.check().believed_no_less(belief_, substrate::asked_time(claim), claim.delay,
                                    world_.now());
  }
}

void client::lost() {
  world_.lost();
  tell({.what = history::kind::lost});
  lost_ = true;
  check_loss();
  if (turns_.is_idle()) return obey(turns_.on_lost());
  // A change that was under way already may reach the server when it has ended there as well.
  if (change_ || !world_.is_harsh() || !world_.chance().chance(20)) return;
  later(world_.now() + world_.chance().time_up_to(50ms), [this, mine = attempt_] {
    if (mine == attempt_) begin_change();
  });
}

void client::check_loss() const {
  if (believes()) world_.check().violated("S4: a lost lease says that it is held");
  if (!undisturbed_) return;
  const nanoseconds lease = mine_->claim.lease;
  if (renews_ || now() < granted_at_ + lease - lease / 50 - 5ms) {
    world_.check().violated("S4: a lease has ended before its time");
  }
}

void client::send_renewal() {
  connect();
  parcel sent{.what = use::renewal, .repeatable = true};
  resp::writer out{sent.bytes};
  const substrate::claim* const only = &mine_->claim;
  world_.of().recipe->write_renew({&only, 1}, leasing::not_after(sending(), response_timeout), out);
  sent.executed = [](const resp::value&) {};
  wire_.transmit(std::move(sent));
}

void client::renewed(const resp::value& reply, monotonic_time sent_at) {
  if (!has_lock()) return;
  const auto verdict = world_.of().recipe->read_renew(reply, 0);
  if (const auto* late = std::get_if<substrate::late>(&verdict)) learn(sent_at, late->now);
  auto& session = mine_->session;
  const auto before = session.deadline();
  const auto all = session.on_renewed(verdict, clock_.local(sent_at), change_ != nullptr, now());
  if (session.deadline() > before) {
    belief_.deadline = clock_.world(session.deadline());
    belief_.evidence = sent_at;
    if (believes()) tell_belief(history::kind::held);
    world_.check().believed(belief_, world_.now());
  }
  follow_mode();
  obey(*mine_, all);
}

void client::release() {
  if (change_) {
    releases_then_ = true;
    if (world_.faults() && world_.chance().chance(50)) {
      obey(*change_, session(*change_).on_stop(now()));
    }
    return;
  }
  const auto deadline = mine_->session.deadline();
  if (now() >= deadline && !lost_ && world_.now() > std::max(frozen_until_, belief_.deadline)) {
    world_.check().violated("S4: the end of a lease was not reported");
  }
  keeps_since_.reset();
  tell({.what = history::kind::releasing});
  wire_.forget(use::renewal);
  obey(*mine_, mine_->session.release(now()));
}

}  // namespace holdfast::simulation
