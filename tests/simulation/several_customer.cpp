// One who wants several locks.
#include <algorithm>
#include <utility>

#include "redis/dialects/holdfast/mutex.hpp"
#include "simulation/greeting.hpp"
#include "simulation/several_world.hpp"

namespace holdfast::simulation::several {

using namespace std::chrono_literals;
using leasing::ask;

customer::customer(market& of, std::uint8_t number)
    : market_(of),
      number_(number),
      clock_(timeline::begin, static_cast<std::int64_t>(of.chance().up_to(10'000)) - 5000),
      id_{client_id{{number}}} {}

void customer::later(monotonic_time when, std::function<void()> what) {
  market_.at(when, [this, life = life_, what = std::move(what)] {
    if (life == life_) what();
  });
}

void customer::connect() {
  if (connection_ >= 0) return;
  connection_ = market_.connect();
  const auto execute = [&](auto& bytes) { return market_.execute(connection_, bytes); };
  simulation::subscribe(id_, execute);
  for (const auto& key : market_.keys()) {
    if (!market_.has_shards() || !market_.other_chance().chance(80)) continue;
    simulation::subscribe_in_slot(id_, key, execute);
  }
  learn(market_.now(), ask_time(execute));
}

void customer::transmit(std::string bytes, std::function<void()> done,
                        std::function<void(const resp::value*, monotonic_time)> heard) {
  connect();
  market_.send(connection_, std::move(bytes), std::move(done),
               [this, life = life_, heard = std::move(heard)](const resp::value* reply,
                                                              monotonic_time sent_at) {
                 if (life == life_) heard(reply, sent_at);
               });
}

void customer::begin() {
  auto& dice = market_.chance();
  ++attempt_;
  failed_ = served_ = false;
  phase_ = phase::together;
  wanted_.clear();
  const auto left_out = dice.up_to(5);  // 3 to 5: none
  for (std::size_t i = 0; i < market_.keys().size(); ++i) {
    if (i != left_out) wanted_.push_back(&market_.keys()[i]);
  }
  connect();
  plan_mishaps();
  if (market_.is_waited_for_at_once() && market_.other_chance().chance(50)) return ask_at_once();
  collects_ = true;
  for (const auto* const key : wanted_) want(*key, {});
  collects_ = false;
  submit(ask::acquire);
}

std::shared_ptr<part> customer::want(const lock_key& key, leasing::patience patience) {
  const auto lease = 200ms + milliseconds(market_.chance().up_to(longest_lease.count() - 200));
  const auto made = std::make_shared<part>(*this, key, lease, patience);
  parts_.push_back(made);
  made->start();
  return made;
}

bool customer::joins(const std::shared_ptr<part>& one) {
  if (collects_) joint_.push_back(one);
  return collects_;
}

// As joint_request: one command for all that have joined, and each hears its own answer.
void customer::submit(ask what) {
  if (joint_.empty()) return;
  const auto all = std::exchange(joint_, {});
  std::vector<const substrate::claim*> claims;
  for (const auto& one : all) claims.push_back(&one->claim());
  std::string bytes;
  resp::writer out{bytes};
  if (what == ask::acquire) {
    dialects::write_acquire_all(claims, not_after(), out);
  } else {
    dialects::write_release_all(claims, out);
  }
  const auto all_or_none = [this, all, what] {
    const auto ours = std::ranges::count_if(
        all, [&](const auto& one) { return market_.owner_of(one->key()) == one->owner(); });
    const bool is_whole = ours == 0 || ours == std::ssize(all);
    if (what == ask::acquire && !is_whole) market_.violated("A1: a part of several was taken");
  };
  transmit(std::move(bytes), all_or_none, [all](const resp::value* reply, monotonic_time sent_at) {
    const bool for_each = reply != nullptr && reply->is(resp::type::array) &&
                          reply->items.size() == all.size() && !reply->items.front().is_text();
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i]->answered(for_each ? &reply->items[i] : reply, sent_at);
    }
  });
}

// As threads of one client do: each lock is used and given back by itself.
void customer::ask_at_once() {
  phase_ = phase::at_once;
  for (const auto* const key : wanted_) want(*key, draw_patience(market_.other_chance()));
}

void customer::use_alone(const std::shared_ptr<part>& one) {
  ++market_.result().grants;
  auto& dice = market_.other_chance();
  later(market_.now() + dice.time_up_to(dice.chance(80) ? 5ms : 1s), [this, one, mine = attempt_] {
    if (mine != attempt_ || phase_ != phase::at_once) return;
    std::erase(got_, one);
    one->give_back();
  });
}

void customer::got(part& one) {
  if (phase_ == phase::leaving) return one.give_back();
  if (phase_ == phase::at_once) {
    got_.push_back(one.shared_from_this());
    return use_alone(got_.back());
  }
  got_.push_back(one.shared_from_this());
  go_on();
}

void customer::failed(part&) {
  if (phase_ == phase::leaving) return;
  failed_ = true;
  if (phase_ != phase::at_once) go_on();
}

// A part has its outcome.
void customer::go_on() {
  if (std::ranges::any_of(parts_, [](const auto& one) { return one->is_wanted(); })) return;
  const bool was_together = phase_ == phase::together;
  if (!failed_ && got_.size() < wanted_.size()) return ask_next();
  if (!failed_) {
    const bool held = std::ranges::all_of(got_, [](const auto& one) { return one->believes(); });
    if (held) {
      if (was_together) ++market_.result().together;
      return use();
    }
  } else if (!was_together) {
    return leave();
  }
  // Busy when asked together, or one was lost on the way: in turn, from the first.
  failed_ = false;
  phase_ = phase::in_turn;
  for (const auto& one : std::exchange(got_, {})) one->give_back();
  ask_next();
}

leasing::patience customer::draw_patience(dice& from) {
  const bool patient = !market_.faults() || from.chance(70);
  const auto until = patient ? monotonic_time::max() : now() + from.time_up_to(2s);
  return {.waits = true, .give_up_at = until};
}

void customer::ask_next() { want(*wanted_[got_.size()], draw_patience(market_.chance())); }

void customer::use() {
  phase_ = phase::using_them;
  served_ = true;
  ++market_.result().grants;
  const auto time = market_.chance().time_up_to(market_.chance().chance(80) ? 5ms : 1s);
  later(market_.now() + time, [this, mine = attempt_] {
    if (mine == attempt_ && phase_ == phase::using_them) leave();
  });
}

void customer::lost(part&) {
  if (phase_ == phase::using_them) leave();
}

void customer::leave() {
  phase_ = phase::leaving;
  collects_ = true;
  for (const auto& one : std::exchange(got_, {})) one->give_back();
  collects_ = false;
  submit(ask::release);
  const auto waiting = parts_;
  for (const auto& one : waiting) one->stop();
  if (parts_.empty()) rest();
}

void customer::ended(part& one) {
  std::erase_if(parts_, [&](const auto& p) { return p.get() == &one; });
  if (!parts_.empty()) return;
  if (phase_ == phase::at_once) {
    phase_ = phase::leaving;
    served_ = !failed_;
    rest();
  } else if (phase_ == phase::leaving) {
    rest();
  }
}

void customer::rest() {
  rests_ = served_ && !market_.faults();
  if (rests_) return;
  later(market_.now() + market_.chance().time_up_to(20ms), [this, mine = attempt_] {
    if (mine == attempt_) begin();
  });
}

void customer::plan_mishaps() {
  auto& dice = market_.chance();
  if (!market_.faults()) return;
  const auto plan = [&](std::uint64_t percent, nanoseconds within, auto what) {
    if (!dice.chance(percent)) return;
    later(market_.now() + dice.time_up_to(within), [this, mine = attempt_, what] {
      if (mine != attempt_ || !market_.faults()) return;
      ++market_.result().harms;
      what();
    });
  };
  plan(15, 500ms, [this] {
    if (phase_ != phase::leaving) leave();
  });
  plan(5, 1s, [this] { crash(); });
}

// A new process takes its place, which knows nothing of it.
void customer::crash() {
  market_.disconnect(std::exchange(connection_, -1));
  ++life_;
  ++attempt_;
  parts_.clear();
  got_.clear();
  joint_.clear();
  server_clock_ = {};
  id_ = client_id{{number_, static_cast<std::uint8_t>(life_)}};
  phase_ = phase::leaving;
  later(market_.now() + market_.chance().time_up_to(1s), [this] { begin(); });
}

void customer::heard(const resp::value& push) {
  const auto said = dialects::read_message(key_space{}, id_, push.items.at(2).text);
  if (!said) return;
  const auto find = [&](std::uint64_t request) {
    const auto it = std::ranges::find_if(
        parts_, [&](const auto& one) { return one->claim().owner.counter() == request; });
    return it == parts_.end() ? nullptr : *it;
  };
  if (const auto* const first = std::get_if<dialects::first_in_line>(&*said)) {
    if (const auto one = find(first->request)) one->heard(*first);
    return;
  }
  const auto* const grant = std::get_if<dialects::handed_over>(&*said);
  if (grant == nullptr) return;
  if (const auto one = find(grant->request)) return one->heard(*grant);
  // For a request that has left: it is passed on.
  for (const auto& key : market_.keys()) {
    if (key.name() != grant->name) continue;
    if (market_.owner_of(key) != std::string{request_id{id_, grant->request}.text()}) continue;
    std::string bytes;
    resp::writer out{bytes};
    how().write_withdraw(
        {.key = &key, .owner = request_id{id_, grant->request}, .granted = grant->major}, out);
    transmit(std::move(bytes), {}, [](const resp::value*, monotonic_time) {});
  }
}

}  // namespace holdfast::simulation::several
