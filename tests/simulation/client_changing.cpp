// A client that has the lock, and wants it in another mode.
#include <algorithm>
#include <utility>

#include "simulation/client.hpp"
#include "simulation/proof.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

using namespace std::chrono_literals;

void client::plan_change() {
  auto& dice = world_.chance();
  if (world_.of().change == nullptr || !dice.chance(40)) return;
  later(world_.now() + dice.time_up_to(200ms), [this, mine = tenure_] {
    if (mine == tenure_) begin_change();
  });
}

void client::begin_change() {
  if (world_.of().change == nullptr || !holding_ || changing_ || (!believes() && !lost_)) return;
  auto& dice = world_.chance();
  const char to = world_.of().change(dice, claim_.wants->mode);
  if (to == 0) return;
  wanted_ = {.mode = to, .replaced = claim_.owner};
  change_claim_ = {.key = &world_.key(),
                   .wants = &wanted_,
                   .owner = request_id{id_, ++requests_},
                   .lease = draw_lease(),
                   .floor = floor_,
                   .waits = true,
                   .way = way(),
                   .proof = proof_of(requests_)};
  tell({.what = history::kind::changing,
        .lease = change_claim_.lease,
        .mode = support::mode_of(to)});
  belief_.has.mode = weaker_of(belief_.has.mode, to);
  if (believes()) tell_belief(history::kind::believed);
  changing_.emplace(
      change_claim_, draw_patience(),
      leasing::acquire_machine::settings{.response_timeout = response_timeout, .seed = requests_});
  obey_change(changing_->start(now()));
}

void client::obey_change(const leasing::step& step) {
  if (changing_->is_unclear()) {
    world_.check().withdrew_unconfirmed(change_claim_.owner.text());
  }
  if (step.learned && answer_sent_at_) learn(*answer_sent_at_, *step.learned);
  if (step.wake_at) {
    later_here(*step.wake_at, [this, mine = ++change_timer_] {
      if (mine == change_timer_ && changing_) obey_change(changing_->on_timer(now()));
    });
  }
  if (step.cannot_undo && holding_) {
    undisturbed_ = false;
    obey(holding_->on_renewed(dialects::not_mine{}, now(), now()));
  }
  change_claim_.forsakes = !believes();
  if (step.send != leasing::ask::nothing) send_change(step.send, step.resend);
  if (step.done) {
    place_.reset();
    if (step.done->code == errc::timed_out) world_.count(fault::gave_up);
    if (!step.done->code) changed(*step.done);
  }
  if (!step.finished) return;
  const bool got_it = step.done && !step.done->code;
  if (!got_it && answer_sent_at_) world_.check().left(change_claim_.owner.text(), world_.now());
  if (!got_it && !answer_sent_at_) change_is_unclear_ = true;
  if (!got_it) tell({.what = history::kind::unchanged});
  if (!got_it) settle(changing_->is_unclear());
  changing_.reset();
  ++change_timer_;
  if (std::exchange(releases_then_, false)) release();
}

// It has what it had. Where nobody has said so, only a renewal that is sent from now on shows it.
void client::settle(bool is_unclear) {
  if (!is_unclear) {
    if (mode_is_unclear_) return;
    belief_.has = share_of(claim_.wants);
    if (believes()) tell_belief(history::kind::believed);
    return;
  }
  mode_is_unclear_ = true;
  if (believes()) obey(holding_->on_doubt(now()));
}

void client::send_change(leasing::ask what, bool resend) {
  connect();
  asked_ = what;
  // A renewal may have made longer what it is to replace.
  if (believes()) {
    const auto left = std::chrono::ceil<short_milliseconds>(holding_->deadline() - now());
    change_claim_.replaced_lease = std::max(change_claim_.replaced_lease, left);
  }
  const auto& recipe = *world_.of().recipe;
  parcel sent;
  resp::writer out{sent.bytes};
  if (what == leasing::ask::acquire) {
    recipe.write_acquire(change_claim_, resend, leasing::not_after(sending(), response_timeout),
                         out);
    sent.floor = change_claim_.floor;
    sent.executed = [this, asks = change_claim_.owner.counter(),
                     replaced = claim_.owner](const resp::value& reply) {
      const auto verdict = world_.of().recipe->read_acquire(change_claim_, reply);
      const bool changed = std::holds_alternative<dialects::granted>(verdict) ||
                           std::holds_alternative<dialects::queued>(verdict);
      const bool wanted = changing_ && change_claim_.owner.counter() == asks;
      if (changed && !wanted) world_.check().late_copy_executed();
      if (changed && asks <= withdrawn_change_) world_.check().changed_unheard(replaced.text());
    };
  } else {
    if (what == leasing::ask::release) {
      recipe.write_release(change_claim_, out);
    } else {
      recipe.write_withdraw(change_claim_, out);
    }
    sent.executed = [this, asks = change_claim_.owner.counter()](const resp::value& reply) {
      const auto verdict = world_.of().recipe->read_release(reply);
      const bool gone = std::holds_alternative<dialects::released>(verdict) ||
                        std::holds_alternative<dialects::not_mine>(verdict);
      if (gone) withdrawn_change_ = std::max(withdrawn_change_, asks);
      if (std::holds_alternative<dialects::released>(verdict)) {
        world_.check().gave_back(world_.now());
      }
    };
  }
  wire_.transmit(std::move(sent));
}

// The loss of what was to be changed was told meanwhile: its user is told `lost` once more, and
// what has come in its place is given back.
void client::refuse_change(const leasing::acquire_outcome& got) {
  claim_.granted = got.grant.major;
  floor_ = std::max(floor_, got.grant.major);
  releases_then_ = false;
  tell({.what = history::kind::unchanged, .note = "lost"});
  holding_.reset();
  releasing_.emplace(claim_, got.deadline, requests_);
  obey(releasing_->start(now()));
}

// What was held is no more: this has come in its place.
void client::changed(const leasing::acquire_outcome& got) {
  holding_->on_released();
  wire_.forget(use::renewal);
  has_ = wanted_;
  claim_ = changing_->claim();
  claim_.wants = &has_;
  if (lost_) return refuse_change(got);
  take(got, history::kind::changed);
  holding_->on_extending(claim_.replaced_lease);
  obey(holding_->start());
  plan_change();
}

}  // namespace holdfast::simulation
