// A client that comes to the gate: what happens to it, and how it waits.
#include <algorithm>
#include <utility>

#include "lease/waiting_times.hpp"
#include "simulation/gate_world.hpp"

namespace holdfast::simulation::gates {

using namespace std::chrono_literals;
using leasing::ask;

namespace {

client_id id_of(std::uint16_t number, std::uint64_t life) {
  return client_id{{static_cast<std::uint8_t>(number + 1), static_cast<std::uint8_t>(life),
                    static_cast<std::uint8_t>((number + 1) >> 8)}};
}

}  // namespace

walker::walker(world& of, std::uint16_t number, bool changes)
    : world_(of),
      number_(number),
      changes_(changes),
      clock_(timeline::begin, static_cast<std::int64_t>(of.chance().up_to(10'000)) - 5000),
      id_(id_of(number, 0)) {}

// ---- time

void walker::later(monotonic_time when, std::function<void()> what) {
  world_.at(when, [this, life = life_, what = std::move(what)]() mutable {
    if (life != life_) return;
    if (world_.now() < frozen_until_) return later(frozen_until_, std::move(what));
    what();
  });
}

void walker::later_here(monotonic_time local, std::function<void()> what) {
  later(clock_.world(local), std::move(what));
}

void walker::learn(monotonic_time sent_at, server_time said) {
  server_clock_.sample(clock_.local(sent_at), now(), said);
}

nanoseconds walker::think_time() const {
  return world_.chance().time_up_to(world_.planned().pace * 20ms);
}

// ---- what happens to it

void walker::disturb() { calm_since_ = world_.now(); }

void walker::plan_mishaps() {
  if (!world_.faults()) return;
  auto& dice = world_.chance();
  const auto plan = [&](std::uint64_t percent, nanoseconds within, auto what) {
    if (!dice.chance(percent)) return;
    later(world_.now() + dice.time_up_to(within), [this, mine = calls_, what] {
      if (mine == calls_ && world_.faults()) what();
    });
  };
  plan(10, 500ms, [this] {
    if (is_told_) return;
    world_.count(fault::cancelled);
    obey(asks_->on_stop(now()));
  });
  plan(5, 1s, [this] { freeze(); });
  plan(5, 1s, [this] { crash(); });
  plan(5, 1s, [this] {
    world_.count(fault::connection_broken);
    const int old = connection_;
    const bool noticed = world_.chance().chance(70);
    break_connection(noticed);
    if (!noticed) {
      world_.at(world_.now() + world_.chance().time_up_to(3s),
                [this, old] { world_.disconnect(old); });
    }
  });
}

void walker::freeze() {
  world_.count(fault::frozen);
  disturb();
  const bool long_enough = world_.planned().pace > 1 && world_.chance().chance(30);
  if (long_enough) world_.count(fault::frozen_past_lease);
  frozen_until_ =
      world_.now() + world_.chance().time_up_to(long_enough ? longest_freeze : short_freeze);
}

// A new process takes its place, which knows nothing of it.
void walker::crash() {
  auto& dice = world_.chance();
  const bool silently = dice.chance(50);
  world_.count(silently ? fault::crashed_silently : fault::crashed);
  const int old = std::exchange(connection_, -1);
  if (old >= 0) {
    const auto after = silently ? dice.time_up_to(3s) : 0s;
    world_.at(world_.now() + after, [this, old] { world_.disconnect(old); });
  }
  if (!is_told_) world_.watch().failed(request(), errc::cancelled, false);
  ++life_;
  ++calls_;
  asks_.reset();
  wish_.reset();
  under_way_.clear();
  is_told_ = true;
  id_ = id_of(number_, life_);
  server_clock_ = {};
  floor_ = 0;
  frozen_until_ = calm_since_ = world_.now();
  later(world_.now() + dice.time_up_to(1s), [this] { begin(); });
}

// ---- how it waits

void walker::begin() {
  if (world_.has_gate()) call();
  if (changes_) change();
}

std::string walker::waits() const { return is_told_ ? std::string{} : request(); }

nanoseconds walker::silence() const { return leasing::ask_bound(place_); }

bool walker::rests() const noexcept {
  return world_.closes() ? !asks_ && !wish_ : served_ && !world_.faults();
}

void walker::stop() {
  if (asks_) obey(asks_->on_stop(now()));
}

leasing::patience walker::draw_patience() {
  if (!world_.faults()) return {.waits = true, .give_up_at = monotonic_time::max()};
  auto& dice = world_.chance();
  const auto drawn = dice.up_to(99);
  if (drawn < 10) return {};
  if (drawn < 75) return {.waits = true, .give_up_at = monotonic_time::max()};
  return {.waits = true, .give_up_at = now() + dice.time_up_to(world_.planned().pace * 2s)};
}

void walker::call() {
  if (world_.closes()) return;
  ++calls_;
  connect();
  const auto patience = draw_patience();
  const bool polls = deaf_ || world_.chance().chance(10);
  claim_ = {.key = &world_.key(),
            .wants = world_.watch().wants(),
            .owner = request_id{id_, ++requests_},
            .lease = dialects::gate_lease,
            .floor = floor_,
            .waits = patience.waits,
            .way = polls ? substrate::wakeup_way::poll : substrate::wakeup_way::channel,
            .proof = requests_ * 0x9e3779b97f4a7c15};
  place_ = 0;
  is_told_ = false;
  called_at_ = calm_since_ = world_.now();
  world_.watch().called(request());
  asks_.emplace(
      claim_, patience,
      leasing::acquire_machine::settings{.response_timeout = response_timeout, .seed = requests_});
  plan_mishaps();
  obey(asks_->start(now()));
}

void walker::obey(const leasing::step& step) {
  if (step.learned && answer_sent_at_) learn(*answer_sent_at_, *step.learned);
  if (step.wake_at) wake_at(*step.wake_at);
  if (step.send != ask::nothing) request_it(step.send, step.resend);
  const bool passes = step.done && !step.done->code;
  if (step.done) told(*step.done);
  if (!step.finished) return;
  if (!passes && answer_sent_at_) world_.watch().left(request());
  asks_.reset();
  later(world_.now() + think_time(), [this, mine = calls_] {
    if (mine == calls_) call();
  });
}

void walker::told(const leasing::acquire_outcome& what) {
  is_told_ = true;
  if (what.code) {
    if (what.code == errc::timed_out) world_.count(fault::gave_up);
    return world_.watch().failed(request(), *what.code, calm_since_ == called_at_);
  }
  world_.watch().passed(request(), what.grant.major);
  ++world_.result().grants;
  if (by_message_) ++world_.result().told;
  floor_ = std::max(floor_, what.grant.major);
  served_ = !world_.faults();
}

void walker::wake_at(monotonic_time local) {
  later_here(local, [this, mine = ++timer_] {
    if (mine == timer_ && asks_) obey(asks_->on_timer(now()));
  });
}

void walker::request_it(leasing::ask what, bool resend) {
  asked_ = what;
  errand sent{.request = request()};
  resp::writer out{sent.bytes};
  const auto& how = world_.watch().how();
  if (what == ask::acquire) {
    world_.watch().asks(request(), claim_.way);
    how.write_acquire(claim_, resend, leasing::not_after(sending(), response_timeout), out);
  } else {
    sent.request.clear();  // it is not heard of as a waiter
    how.write_withdraw(claim_, out);
  }
  sent.heard = [this, mine = calls_](const resp::value* reply, monotonic_time sent_at,
                                     std::uint64_t position) {
    if (mine == calls_ && asks_) answered(reply, sent_at, position);
  };
  send(std::move(sent));
}

void walker::answered(const resp::value* reply, monotonic_time sent_at, std::uint64_t position) {
  if (reply == nullptr) {
    return obey(asks_->on_missing(no_answer::unknown, {errc::unavailable, "lost"}, now()));
  }
  answer_sent_at_ = sent_at;
  const auto& how = world_.watch().how();
  if (asked_ == ask::acquire) {
    const auto verdict = how.read_acquire(claim_, *reply);
    const auto* const where = std::get_if<substrate::queued>(&verdict);
    if (where != nullptr) place_ = where->place;
    obey(asks_->on_acquired(verdict, clock_.local(sent_at), now(), position));
    if (asks_ && claim_.ticket != 0 && where != nullptr) {
      world_.watch().told_to_wait(request(), sent_at);
    }
  } else {
    obey(asks_->on_given_back(how.read_release(*reply), now()));
  }
  if (deaf_ && asks_ && asks_->hears_messages()) obey(asks_->on_deaf(now()));
  answer_sent_at_.reset();
}

}  // namespace holdfast::simulation::gates
