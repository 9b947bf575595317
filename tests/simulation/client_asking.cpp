// A client that wants the lock.
#include <algorithm>
#include <utility>

#include "dialects/holdfast/waiting.hpp"
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

// What lock_options and client_options say besides.
void client::draw_options(dialects::claim& wanted) {
  if (!world_.varies()) return;
  auto& dice = world_.chance();
  if (dice.chance(10)) wanted.way = dialects::wakeup_way::poll;
  if (dice.chance(15)) wanted.delay = short_milliseconds(dice.up_to(longest_delay.count()));
  if (world_.faults() && dice.chance(10)) {
    wanted.queue_limit = static_cast<std::uint32_t>(1 + dice.up_to(1));
  }
}

// Of two servers behind one name, or of one whose clock was wrong, it may have seen larger tokens.
dialects::token_major client::draw_floor() {
  auto& dice = world_.chance();
  knows_from_elsewhere_ = world_.is_harsh() && world_.faults() && dice.chance(2);
  if (!knows_from_elsewhere_) return floor_;
  world_.count(fault::foreign_floor);
  const auto ahead = dice.time_up_to(dice.chance(50) ? nanoseconds{20s} : nanoseconds{23h});
  const auto now = world_.server().now() + std::chrono::floor<microseconds>(ahead);
  return std::max(floor_, static_cast<dialects::token_major>(now.count()));
}

void client::begin() {
  auto& dice = world_.chance();
  ++tenure_;
  served_ = lost_ = change_is_unclear_ = false;
  connect();
  const bool retains = world_.varies() && world_.of().is_kept && dice.chance(25);
  retain_ = retains ? 1ms + milliseconds(dice.up_to(longest_keeping.count() - 1)) : 0ms;
  claim_ = {.key = &world_.key(),
            .wants = world_.of().want(dice),
            .owner = request_id{id_, ++requests_, retains},
            .lease = draw_lease(),
            .floor = draw_floor(),
            .waits = true,
            .way = way(),
            .proof = proof_of(requests_)};
  draw_options(claim_);
  turns_ = leasing::local_turns{{.lease = claim_.lease, .retains = retains}};
  turns_.ask();
  renews_ = dice.chance(75);
  hears_all_ = !deaf_ && !wire_.stalls();
  const auto patience = draw_patience();
  give_up_at_ = patience.give_up_at;
  told_ = false;
  acquiring_.emplace(
      claim_, patience,
      leasing::acquire_machine::settings{.response_timeout = response_timeout, .seed = requests_});
  operation_ = claim_.owner.counter();
  tell({.what = history::kind::called, .lease = claim_.lease});
  plan_mishaps();
  obey(acquiring_->start(now()));
}

void client::cancel() {
  if (!acquiring_ && !changing_) return;
  world_.count(fault::cancelled);
  if (!acquiring_) return obey_change(changing_->on_stop(now()));
  obey(acquiring_->on_stop(now()));
  if (!told_) world_.check().violated("I10: who was stopped was not told so at once");
}

// His call returns now.
void client::told() {
  told_ = true;
  const auto awake = std::max(give_up_at_, clock_.local(frozen_until_));
  if (now() - 1ms > awake) world_.check().violated("I10: a call has lasted longer than asked for");
}

void client::obey(const leasing::step& step) {
  if (acquiring_->is_unclear()) world_.check().withdrew_unconfirmed(claim_.owner.text());
  if (step.learned && answer_sent_at_) learn(*answer_sent_at_, *step.learned);
  if (step.wake_at) wake_at(*step.wake_at);
  if (step.send != leasing::ask::nothing) send(step.send, step.resend);
  if (step.done) {
    place_.reset();
    told();
    if (!step.done->code) return hold(*step.done);
    tell({.what = history::kind::unclear});
    if (step.done->code == errc::timed_out) world_.count(fault::gave_up);
    if (step.done->code == errc::queue_full) world_.refused_for_length();
  }
  if (!step.finished) return;
  // What had no answer may have been left behind: then the lease ends it.
  if (answer_sent_at_) world_.check().left(claim_.owner.text(), world_.now());
  rest();
}

void client::wake_at(monotonic_time local) {
  later_here(local, [this, mine = ++timer_, tenure = tenure_] {
    if (mine != timer_ || tenure != tenure_) return;
    if (holding_) return obey(holding_->on_timer(now()));
    if (releasing_) return obey(releasing_->on_timer(now()));
    if (acquiring_) obey(acquiring_->on_timer(now()));
  });
}

void client::send(leasing::ask what, bool resend) {
  connect();
  asked_ = what;
  const auto& recipe = *world_.of().recipe;
  parcel sent;
  resp::writer out{sent.bytes};
  if (what == leasing::ask::acquire) {
    recipe.write_acquire(claim_, resend, leasing::not_after(sending(), response_timeout), out);
    sent.floor = claim_.floor;
    sent.executed = [this, mine = tenure_](const resp::value& reply) {
      const auto verdict = world_.of().recipe->read_acquire(claim_, reply);
      const bool changed = std::holds_alternative<dialects::granted>(verdict) ||
                           std::holds_alternative<dialects::queued>(verdict);
      if (changed && mine != tenure_) world_.check().late_copy_executed();
    };
  } else {
    const bool names_the_grant = what == leasing::ask::release;
    if (names_the_grant) {
      recipe.write_release(claim_, out);
    } else {
      recipe.write_withdraw(claim_, out);
    }
    sent.repeatable = names_the_grant;
    sent.executed = [this](const resp::value& reply) {
      const auto verdict = world_.of().recipe->read_release(reply);
      if (std::holds_alternative<dialects::released>(verdict)) {
        world_.check().gave_back(world_.now());
      }
    };
  }
  wire_.transmit(std::move(sent));
}

void client::answered(use what, const utterance& when, const resp::value& reply) {
  if (what == use::courtesy) return;
  answer_sent_at_ = when.asked_at;
  if (what == use::renewal) {
    if (holding_) renewed(reply, when.asked_at);
  } else if (releasing_) {
    obey(releasing_->on_given_back(world_.of().recipe->read_release(reply), now()));
  } else if (acquiring_) {
    ask_answered(acquiring_, claim_, reply, when, &client::obey);
  } else if (changing_) {
    ask_answered(changing_, change_claim_, reply, when, &client::obey_change);
  }
  answer_sent_at_.reset();
}

void client::ask_answered(std::optional<leasing::acquire_machine>& asks,
                          const dialects::claim& claim, const resp::value& reply,
                          const utterance& when, void (client::*follow)(const leasing::step&)) {
  const auto& recipe = *world_.of().recipe;
  if (asked_ == leasing::ask::acquire) {
    const auto verdict = recipe.read_acquire(claim, reply);
    granted_by_answer_ = std::holds_alternative<dialects::granted>(verdict);
    // Before the machine goes on: what it asks next may be disturbed.
    if (const auto* where = std::get_if<dialects::queued>(&verdict)) {
      note_place(*where, claim.owner, when);
    }
    const auto sent_at = clock_.local(when.asked_at);
    (this->*follow)(asks->on_acquired(verdict, sent_at, now(), when.position));
    granted_by_answer_ = false;
  } else {
    (this->*follow)(asks->on_given_back(recipe.read_release(reply), now()));
  }
  if (deaf_ && asks && asks->hears_messages()) (this->*follow)(asks->on_deaf(now()));
  if (!asks || !asks->hears_messages()) place_.reset();
}

void client::note_place(const dialects::queued& where, const request_id& of,
                        const utterance& when) {
  if (wire_.stalls()) return;
  const auto calm_since = place_ ? place_->calm_since : world_.now();
  place_ = place{.request = std::string{of.text()},
                 .before = where.place,
                 .asked_at = when.asked_at,
                 .told_at = world_.now(),
                 .calm_since = calm_since};
}

void client::unanswered(use what, leasing::missing how) {
  if (what == use::renewal) {
    if (holding_) obey(holding_->on_missing(now()));
  } else if (what == use::request && releasing_) {
    obey(releasing_->on_missing(how, now()));
  } else if (what == use::request && acquiring_) {
    obey(acquiring_->on_missing(how, {errc::unavailable, "lost"}, now()));
  } else if (what == use::request && changing_) {
    obey_change(changing_->on_missing(how, {errc::unavailable, "lost"}, now()));
  }
}

void client::heard(const resp::value& push, const utterance& when) {
  const auto said = dialects::read_message(key_space{}, id_, push.items.at(2).text);
  if (!said) return;
  if (const auto* const first = std::get_if<dialects::first_in_line>(&*said)) {
    const bool acquires = acquiring_ && first->request == claim_.owner.counter();
    const bool changes = changing_ && first->request == change_claim_.owner.counter();
    if (!acquires && !changes) return;
    if (world_.has_misled_at(when.asked_at)) {
      place_.reset();  // the client may believe for a while that another has the lock
      // A lost message may have been the client's own grant, made after this was said.
    } else if (place_ && wire_.lost_push_at() < when.asked_at) {
      place_ = place{.request = std::move(place_->request),
                     .asked_at = when.asked_at,
                     .told_at = world_.now(),
                     .calm_since = place_->calm_since};
    }
    auto& machine = acquires ? *acquiring_ : *changing_;
    const auto next = machine.on_first_in_line(first->owner_has, now(), when.position);
    return acquires ? obey(next) : obey_change(next);
  }
  if (const auto* const by_others = std::get_if<dialects::wanted>(&*said)) {
    if (by_others->request == claim_.owner.counter()) asked_for();
    return;
  }
  const auto* const grant = std::get_if<dialects::handed_over>(&*said);
  if (grant == nullptr) return;
  const bool acquires = acquiring_ && grant->request == claim_.owner.counter();
  const bool changes = changing_ && grant->request == change_claim_.owner.counter();
  if (acquires || changes) {
    const auto& claim = acquires ? claim_ : change_claim_;
    if (!dialects::is_for(*grant, world_.of().recipe->queue_family(), claim)) return;
    const auto granted_at = clock_of_server_.earliest(grant->at);
    auto& machine = acquires ? *acquiring_ : *changing_;
    const auto next = dialects::is_plausible(*grant, claim)
                          ? machine.on_handed_over({grant->major, grant->claim - claim.delay},
                                                   *granted_at, now(), when.position)
                          : machine.on_woken(now());
    return acquires ? obey(next) : obey_change(next);
  }
  if (holding_ && grant->request == claim_.owner.counter()) return;
  if (grant->major == 0) return;
  const request_id left{id_, grant->request, grant->revocable};
  later(world_.now() + unclaimed, [=, this, major = grant->major] { give_back(left, major); });
}

// A grant came for a request that has left: it is passed on.
void client::give_back(const request_id& left, dialects::token_major major) {
  connect();
  parcel sent{.what = use::courtesy};
  resp::writer out{sent.bytes};
  world_.of().recipe->write_withdraw({.key = &world_.key(), .owner = left, .granted = major}, out);
  sent.executed = [](const resp::value&) {};
  wire_.transmit(std::move(sent));
}

}  // namespace holdfast::simulation
