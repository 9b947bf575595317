// A client that wants the lock.
#include <algorithm>
#include <memory>
#include <utility>

#include "redis/dialects/holdfast/waiting.hpp"
#include "simulation/client.hpp"
#include "simulation/proof.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

// For how long a message may wait for a request that says it is here (runtime/waiting_room.cpp).
constexpr nanoseconds unclaimed = 50ms;

}  // namespace

leasing::patience client::draw_patience() {
  auto& dice = world_.chance();
  const bool patient = !world_.faults() || dice.chance(70);
  const auto until = patient ? monotonic_time::max() : now() + dice.time_up_to(2s);
  return {.waits = true, .give_up_at = until};
}

milliseconds client::draw_lease() {
  return 200ms + milliseconds(world_.chance().up_to(longest_lease.count() - 200));
}

// What mutex_options and client_options say besides.
void client::draw_options(substrate::claim& wanted) {
  if (!world_.varies()) return;
  auto& dice = world_.chance();
  if (dice.chance(10)) wanted.way = substrate::wakeup_way::poll;
  if (dice.chance(15)) wanted.delay = short_milliseconds(dice.up_to(longest_delay.count()));
  if (world_.faults() && dice.chance(10)) {
    wanted.queue_limit = static_cast<std::uint32_t>(1 + dice.up_to(1));
  }
}

// Of two servers behind one name, or of one whose clock was wrong, it may have seen larger tokens.
substrate::token_major client::draw_floor() {
  auto& dice = world_.chance();
  knows_from_elsewhere_ = world_.is_harsh() && world_.faults() && dice.chance(2);
  if (!knows_from_elsewhere_) return floor_;
  world_.count(fault::foreign_floor);
  const auto ahead = dice.time_up_to(dice.chance(50) ? nanoseconds{20s} : nanoseconds{23h});
  const auto now = world_.server().now() + std::chrono::floor<microseconds>(ahead);
  return std::max(floor_, static_cast<substrate::token_major>(now.count()));
}

void client::begin() {
  auto& dice = world_.chance();
  ++attempt_;
  served_ = lost_ = change_is_unclear_ = false;
  connect();
  const bool retains = world_.varies() && world_.of().is_kept && dice.chance(25);
  retain_ = retains ? 1ms + milliseconds(dice.up_to(longest_keeping.count() - 1)) : 0ms;
  substrate::claim wanted{.key = &world_.key(),
                          .wants = world_.of().want(dice),
                          .owner = request_id{id_, ++requests_, retains},
                          .lease = draw_lease(),
                          .floor = draw_floor(),
                          .waits = true,
                          .way = way(),
                          .proof = proof_of(requests_)};
  draw_options(wanted);
  turns_ = leasing::local_turns{{.lease = wanted.lease, .retains = retains}};
  turns_.ask();
  renews_ = dice.chance(75);
  hears_all_ = !deaf_ && !wire_.stalls();
  const auto patience = draw_patience();
  give_up_at_ = patience.give_up_at;
  mine_ = std::make_shared<request>(wanted, patience, renews_);
  operation_ = wanted.owner.counter();
  tell({.what = history::kind::called, .lease = wanted.lease});
  plan_mishaps();
  obey(*mine_, mine_->session.begin(now()));
}

void client::cancel() {
  if (!waits() && !change_) return;
  world_.count(fault::cancelled);
  auto& one = *asks();
  const bool changes = change_ != nullptr;
  obey(one, session(one).on_stop(now()));
  if (!changes && mine_ && !mine_->told) {
    world_.check().violated("I10: who was stopped was not told so at once");
  }
}

// Its call returns now.
void client::told(const leasing::outcome& how) {
  const auto awake = std::max(give_up_at_, clock_.local(frozen_until_));
  if (now() - 1ms > awake) world_.check().violated("I10: a call has lasted longer than asked for");
  if (!how.code) return;
  tell({.what = history::kind::unclear});
  if (how.code == errc::timed_out) world_.count(fault::gave_up);
  if (how.code == errc::queue_full) world_.refused_for_length();
}

void client::wake_at(request& one, monotonic_time local) {
  one.timer = ++timers_;
  later_here(local, [this, mine = timers_, lock_driver = attempt_] {
    if (lock_driver != attempt_) return;
    for (auto* const each : {mine_.get(), change_.get()}) {
      if (each && each->timer == mine) return obey(*each, session(*each).on_timer(now()));
    }
  });
}

void client::send(request& one, leasing::ask what, bool resend) {
  connect();
  one.asked = what;
  const auto& recipe = *world_.of().recipe;
  const auto& claim = one.claim;
  const bool changes = &one == change_.get();
  parcel sent;
  resp::writer out{sent.bytes};
  if (what == leasing::ask::acquire) {
    recipe.write_acquire(claim, resend, leasing::not_after(sending(), response_timeout), out);
    sent.floor = claim.floor;
    sent.executed = [this, mine = attempt_, changes,
                     self = changes ? change_ : mine_](const resp::value& reply) {
      const auto verdict = world_.of().recipe->read_acquire(self->claim, reply);
      const bool changed = std::holds_alternative<substrate::granted>(verdict) ||
                           std::holds_alternative<substrate::queued>(verdict);
      if (!changed) return;
      const bool is_wanted = changes ? self == change_ : mine == attempt_;
      if (!is_wanted) world_.check().late_copy_executed();
      if (changes && self->claim.owner.counter() <= withdrawn_change_) {
        world_.check().changed_unheard(self->changes_into.replaced->text());
      }
    };
  } else {
    const bool names_the_grant = what == leasing::ask::release;
    if (names_the_grant) {
      recipe.write_release(claim, out);
    } else {
      recipe.write_withdraw(claim, out);
    }
    sent.repeatable = names_the_grant && !changes;
    sent.executed = [this, counter = claim.owner.counter(), changes](const resp::value& reply) {
      const auto verdict = world_.of().recipe->read_release(reply);
      const bool released = std::holds_alternative<substrate::released>(verdict);
      const bool gone = released || std::holds_alternative<substrate::not_mine>(verdict);
      if (changes && gone) withdrawn_change_ = std::max(withdrawn_change_, counter);
      if (released) world_.check().gave_back(world_.now());
    };
  }
  wire_.transmit(std::move(sent));
}

void client::answered(use what, const utterance& when, const resp::value& reply) {
  if (what == use::courtesy) return;
  answer_sent_at_ = when.asked_at;
  auto* const one = asks();
  const auto& recipe = *world_.of().recipe;
  if (what == use::renewal) {
    if (mine_) renewed(reply, when.asked_at);
  } else if (one && one->asked == leasing::ask::acquire) {
    const auto verdict = recipe.read_acquire(one->claim, reply);
    granted_by_answer_ = std::holds_alternative<substrate::granted>(verdict);
    // Before the session goes on: what it asks next may be disturbed.
    if (const auto* where = std::get_if<substrate::queued>(&verdict)) {
      note_place(*where, *one, when);
    }
    const auto sent_at = clock_.local(when.asked_at);
    obey(*one, session(*one).on_acquired(verdict, sent_at, now(), when.position));
    granted_by_answer_ = false;
  } else if (one) {
    obey(*one, session(*one).on_given_back(recipe.read_release(reply), now()));
  }
  if (what == use::request) {
    if (deaf_ && asks() && asks()->session.hears_messages()) {
      obey(*asks(), session(*asks()).on_deaf(now()));
    }
    if (!asks() || !asks()->session.hears_messages()) place_.reset();
  }
  answer_sent_at_.reset();
}

void client::note_place(const substrate::queued& where, const request& of, const utterance& when) {
  if (wire_.stalls()) return;
  const auto calm_since = place_ ? place_->calm_since : world_.now();
  place_ = place{.request = of.name(),
                 .before = where.place,
                 .asked_at = when.asked_at,
                 .told_at = world_.now(),
                 .calm_since = calm_since};
}

void client::unanswered(use what, no_answer how) {
  if (what == use::renewal) {
    if (mine_) obey(*mine_, mine_->session.on_renewal_missing(now()));
  } else if (what == use::request && asks()) {
    obey(*asks(), session(*asks()).on_missing(how, {errc::unavailable, "lost"}, now()));
  }
}

client::request* client::waits_as(std::uint64_t counter) noexcept {
  if (waits() && mine_->is(counter)) return mine_.get();
  return change_ && change_->is(counter) ? change_.get() : nullptr;
}

void client::heard(const resp::value& push, const utterance& when) {
  const auto said = dialects::read_message(key_space{}, id_, push.items.at(2).text);
  if (!said) return;
  if (const auto* const first = std::get_if<dialects::first_in_line>(&*said)) {
    auto* const one = waits_as(first->request);
    if (one == nullptr) return;
    if (world_.has_misled_at(when.asked_at)) {
      place_.reset();  // the client may believe for a while that another has the lock
      // A lost message may have been the client's own grant, made after this was said.
    } else if (place_ && wire_.lost_push_at() < when.asked_at) {
      place_ = place{.request = std::move(place_->request),
                     .asked_at = when.asked_at,
                     .told_at = world_.now(),
                     .calm_since = place_->calm_since};
    }
    return obey(*one, session(*one).on_first_in_line(first->owner_has, now(), when.position));
  }
  if (const auto* const by_others = std::get_if<dialects::wanted>(&*said)) {
    if (mine_ && mine_->is(by_others->request)) asked_for();
    return;
  }
  const auto* const grant = std::get_if<dialects::handed_over>(&*said);
  if (grant == nullptr) return;
  if (auto* const one = waits_as(grant->request)) {
    const auto& claim = one->claim;
    if (!dialects::is_for(*grant, world_.of().recipe->queue_family(), claim)) return;
    const auto granted_at = clock_of_server_.earliest(grant->at);
    return obey(*one, dialects::is_plausible(*grant, claim)
                          ? session(*one).on_handed_over({grant->major, grant->claim - claim.delay},
                                                         *granted_at, now(), when.position)
                          : session(*one).on_woken(now()));
  }
  if (has_lock() && mine_->is(grant->request)) return;
  if (grant->major == 0) return;
  const request_id left{id_, grant->request, grant->revocable};
  later(world_.now() + unclaimed, [=, this, major = grant->major] { give_back(left, major); });
}

// A grant came for a request that has left: it is passed on.
void client::give_back(const request_id& left, substrate::token_major major) {
  connect();
  parcel sent{.what = use::courtesy};
  resp::writer out{sent.bytes};
  world_.of().recipe->write_withdraw({.key = &world_.key(), .owner = left, .granted = major}, out);
  sent.executed = [](const resp::value&) {};
  wire_.transmit(std::move(sent));
}

}  // namespace holdfast::simulation
