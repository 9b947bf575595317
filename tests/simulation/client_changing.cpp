// A client that has the lock, and wants it in another mode.
#include <algorithm>
#include <memory>
#include <utility>

#include "simulation/client.hpp"
#include "simulation/proof.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

using namespace std::chrono_literals;

void client::plan_change() {
  auto& dice = world_.chance();
  if (world_.of().change == nullptr || !dice.chance(40)) return;
  later(world_.now() + dice.time_up_to(200ms), [this, mine = attempt_] {
    if (mine == attempt_) begin_change();
  });
}

void client::begin_change() {
  if (world_.of().change == nullptr || !has_lock() || change_ || (!believes() && !lost_)) return;
  auto& dice = world_.chance();
  const char to = world_.of().change(dice, mine_->claim.wants->mode);
  if (to == 0) return;
  const substrate::claim wanted{.key = &world_.key(),
                                .owner = request_id{id_, ++requests_},
                                .lease = draw_lease(),
                                .floor = floor_,
                                .waits = true,
                                .way = way(),
                                .proof = proof_of(requests_)};
  tell({.what = history::kind::changing, .lease = wanted.lease, .mode = support::mode_of(to)});
  change_ = std::make_shared<request>(wanted, draw_patience(), renews_);
  change_->changes_into = {.mode = to, .replaced = mine_->claim.owner};
  change_->claim.wants = &change_->changes_into;
  // Of a lease that was lost just now: as if that had happened while the first request travels.
  auto& asks = session(*change_);
  if (!believes()) asks.note_changed(nanoseconds{1});
  obey(*change_, asks.begin(now()));
}

// Its lease may become, or stays, something else.
void client::hear_of_change(leasing::change_news what) {
  if (what == leasing::change_news::cannot_stay) undisturbed_ = false;
  obey(*mine_, mine_->session.on_change(what, change_->changes_into.mode, now()));
  follow_mode();
}

void client::follow_mode() {
  if (mine_->claim.wants == nullptr) return;
  if (std::exchange(belief_.has.mode, mine_->session.mode()) == belief_.has.mode) return;
  if (believes()) tell_belief(history::kind::believed);
}

// The old lease is no more: the change has come in its place. In vain, where the loss of the old
// lease was told meanwhile: then its user is told so once more, and the new one is given back.
void client::replace(bool in_vain) {
  obey(*mine_, mine_->session.on_replaced());
  wire_.forget(use::renewal);
  mine_ = std::move(change_);
  if (!in_vain) return;
  floor_ = std::max(floor_, mine_->claim.granted);
  releases_then_ = false;
  tell({.what = history::kind::unchanged, .note = "lost"});
}

// It has what it had, as far as anybody has said so.
void client::change_ended() {
  if (answer_sent_at_) {
    world_.check().left(change_->claim.owner.text(), world_.now());
  } else {
    change_is_unclear_ = true;
  }
  tell({.what = history::kind::unchanged});
  change_.reset();
  if (std::exchange(releases_then_, false)) release();
}

}  // namespace holdfast::simulation
