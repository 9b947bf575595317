// A client carries out the effects of its session.
#include <algorithm>
#include <utility>

#include "simulation/client.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

// A change knows what has become of what it changes.
leasing::lock_session& client::session(request& one) {
  using leasing::lock_session;
  if (&one == change_.get()) {
    const auto& held = mine_->session;
    const auto left = held.has_lease() ? held.deadline() - now() : lock_session::none_left;
    one.session.note_changed(held.has_lease() ? std::max(left, nanoseconds{0}) : left);
  }
  return one.session;
}

void client::obey(request& one, const leasing::effects& all) {
  const bool changes = &one == change_.get();
  if (one.session.is_unclear()) world_.check().withdrew_unconfirmed(one.claim.owner.text());
  if (all.learned && answer_sent_at_) learn(*answer_sent_at_, *all.learned);
  if (all.to_changed != leasing::change_news::none) hear_of_change(all.to_changed);
  const bool holds = all.granted && !all.gives_back;
  if (all.granted) {
    place_.reset();
    one.was_held = true;
    if (changes) replace(all.gives_back);
    if (!std::exchange(one.told, true) && !changes) told({});
  }
  if (holds && !changes) {
    turns_.on_granted(one.claim.granted, one.claim.ticket != 0, now());
  }
  if (holds) take(one, *all.granted, changes ? history::kind::changed : history::kind::won);
  if (holds && !changes && world_.faults() && world_.chance().chance(10)) {
    freeze(world_.longest_freeze());
  }
  if (all.renew) send_renewal();
  if (all.wake_at) wake_at(one, *all.wake_at);
  if (all.send != leasing::ask::nothing) send(one, all.send, all.resend);
  if (holds && !changes) use_it();
  if (holds) plan_change();
  if (all.lost) lost();
  if (all.ended && !std::exchange(one.told, true)) {
    place_.reset();
    if (!changes) told(*all.ended);
    if (changes && all.ended->code == errc::timed_out) world_.count(fault::gave_up);
  }
  if (changes && all.granted && std::exchange(releases_then_, false)) release();
  if (one.session.present_state() == leasing::lock_session::state::over) ended(one);
}

void client::ended(request& one) {
  if (&one == change_.get()) return change_ended();
  // A lock whose request had no answer may have been left behind: then the lease ends it. Giving up
  // a change may reach the server late, and bring the old lease back.
  if (one.was_held) {
    tell({.what = history::kind::released, .note = answer_sent_at_ ? "" : "unconfirmed"});
  }
  if (answer_sent_at_ && !(one.was_held && change_is_unclear_)) {
    world_.check().left(one.claim.owner.text(), world_.now());
  }
  rest();
}

}  // namespace holdfast::simulation
