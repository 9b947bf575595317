// The operations of a stage.
#include <poll.h>

#include <algorithm>

#include "net/clock.hpp"
#include "reference/promises.hpp"
#include "reference/stage.hpp"
#include "reference/stage_call.hpp"
#include "support/eventually.hpp"

namespace holdfast::reference {
namespace {

constexpr milliseconds margin{60};
constexpr milliseconds long_enough{30'000};
constexpr std::size_t most_waiters = 4, most_holders = 6;

}  // namespace

void stage::play(int steps) {
  for (int i = 0; i < steps; ++i) {
    await_short_leases(margin);
    step();
    converge();
  }
  finish();
}

void stage::step() {
  const auto dice = run_.below(100);
  if (dice < 24) return ask_once();
  if (dice < 48) return begin_to_wait();
  if (dice < 70) return release_one();
  if (dice < 77) return extend_one();
  if (dice < 85) return change_one(false);
  if (dice < 91) return change_one(true);
  if (dice < 95) return stop_one();
  if (dice < 98 && kind_.refuses_reentry()) return enter_again();
  resize();
}

terms stage::any_terms() {
  static const std::vector<int> fixed{150, 250, 600, 20'000}, renewed{5'000, 30'000};
  terms how;
  how.fixed = kind_.has_terms() && run_.chance(50);
  how.lease = milliseconds{run_.one_of(how.fixed ? fixed : renewed)};
  how.fair = kind_.has_terms() && run_.chance(40);
  if (kind_.retains() && !how.fixed) {
    how.fair = false;
    how.retain = milliseconds{run_.one_of(std::vector<int>{20, 200, 2'000})};
  }
  return how;
}

terms stage::terms_of_change() {
  auto how = any_terms();
  how.retain = milliseconds{0};
  return how;
}

// A client for whom the order of arrival is strict; none when all are taken.
std::optional<std::size_t> stage::client_for(const want& asked, const terms& how) {
  std::vector<std::size_t> free;
  for (std::size_t client = 0; client < run_.on().clients(); ++client) {
    const auto disturbs = [&](const auto& other, const want& has) {
      return other.by == client && (kind_.passed_on(asked, how) || kind_.passed_on(has, other.on));
    };
    const bool taken =
        std::ranges::any_of(holders_, [&](const auto& h) { return disturbs(h, h.has); }) ||
        std::ranges::any_of(waiters_, [&](const auto& w) { return disturbs(w, w.asked); });
    if (!taken) free.push_back(client);
  }
  if (free.empty()) return std::nullopt;
  return run_.one_of(free);
}

void stage::ask_once() {
  if (holders_.size() >= most_holders) return release_one();
  const auto how = any_terms();
  auto asked = kind_.any(run_);
  const auto by = client_for(asked, how);
  if (!by) return;
  const auto id = ++ids_;
  if (kind_.permits() != 0 && run_.chance(5)) {
    asked.permits = kind_.permits() + 1;
    const auto got = kind_.to_hold(run_.of(*by), name_, asked, how).try_acquire();
    return run_.expect(outcome_of(got) == "invalid_argument", promises::too_many,
                       "more permits than there are: " + outcome_of(got));
  }
  auto as = claim_of(asked, *by, id, how);
  const auto began = net::now();
  auto got = kind_.to_hold(run_.of(*by), name_, asked, how).try_acquire();
  const auto ended = net::now();
  run_.did(who(id, *by) + " asks once for " + text_of(asked) + (how.fair ? " (fair)" : "") +
           (how.fixed ? " (fixed)" : "") + ", lease " + std::to_string(how.lease.count()) + ": " +
           outcome_of(got) + (got ? " " + got->token().to_string() : ""));
  const bool admitted = !anybody_waits() && kind_.admits(wants(), asked);
  const bool either =
      (asked.in == mode::nl && anybody_waits()) || (keeper_ && keeper_ != std::pair{*by, how});
  if (!either && all_certain()) {
    run_.expect(outcome_of(got) == (admitted ? "ok" : "busy"), promises::once,
                who(id, *by) + " asked once for " + text_of(asked) + " and got " + outcome_of(got) +
                    ", and should have: " + (admitted ? "ok" : "busy"));
  }
  if (!got && admitted && keeper_) {
    run_.expect(support::eventually([&] {
                  return static_cast<bool>(
                      got = kind_.to_hold(run_.of(*by), name_, asked, how).try_acquire());
                }),
                promises::kept, who(id, *by) + " asked again and again: " + outcome_of(got));
  }
  if (!got) return;
  auto at = observer_.watch(std::move(*got), std::move(as));
  while (!all_certain()) take_out_the_ended();
  add({.id = id,
       .at = at,
       .has = asked,
       .on = how,
       .by = *by,
       .window = ended - began,
       .asked = how.lease,
       .by_this_thread = true,
       .order = ++orders_});
  judge_token(holders_.back(), std::nullopt);
}

void stage::begin_to_wait() {
  if (waiters_.size() >= most_waiters || holders_.size() >= most_holders) return release_one();
  auto how = any_terms();
  const auto asked = kind_.any(run_);
  const auto by = client_for(asked, how);
  if (!by || (asked.in == mode::nl && anybody_waits())) return;
  const bool at_once = !anybody_waits() && kind_.admits(wants(), asked);
  const auto waiting =
      static_cast<std::size_t>(std::ranges::count(waiters_, std::uint64_t{0}, &waiter::granted));
  // Others may have to wait for a lock that a client only retains.
  const bool is_kept = at_once && keeper_;
  const bool limited = kind_.family() != "semaphore" && !is_kept && run_.chance(8);
  if (limited) how.queue_limit = static_cast<std::uint32_t>(run_.below(3));
  const auto id = ++ids_;
  const auto what = kind_.to_hold(run_.of(*by), name_, asked, how);
  const auto as = claim_of(asked, *by, id, how);
  if (limited && !at_once && waiting >= how.queue_limit) {
    const auto got = what.try_acquire({.timeout = milliseconds{2'000}});
    run_.did(who(id, *by) + " waits at a full queue: " + outcome_of(got));
    if (all_certain() && !keeper_) {
      run_.expect(outcome_of(got) == "queue_full", promises::limit,
                  who(id, *by) + " with queue_limit " + std::to_string(how.queue_limit) +
                      " behind " + std::to_string(waiting) + ": " + outcome_of(got));
    }
    return;
  }
  bool timed = !at_once && !keeper_ && run_.chance(15);
  for (const auto& one : holders_) {
    timed = timed && (!one.on.fixed || one.at->look().remaining() > milliseconds{5'000});
  }
  const auto timeout = timed ? milliseconds{run_.between(20, 60)} : long_enough;
  run_.did(who(id, *by) + " waits for " + text_of(asked) + (how.fair ? " (fair)" : "") +
           (how.fixed ? " (fixed)" : "") + ", lease " + std::to_string(how.lease.count()) +
           ", timeout " + std::to_string(timeout.count()));
  waiters_.push_back({.id = id,
                      .asked = asked,
                      .on = how,
                      .by = *by,
                      .ends_by_itself = timed,
                      .at = start(what, as, timeout)});
}

void stage::release_one() {
  if (holders_.empty()) return;
  const auto at = holders_.begin() + static_cast<std::ptrdiff_t>(run_.below(holders_.size()));
  // A request that waits to change it has nothing left to change.
  if (has_pending_change(at->id) && !run_.chance(10)) return;
  for (auto& one : waiters_) one.loses = one.loses || one.changes == at->id;
  release(at);
}

void stage::release(std::deque<holder>::iterator at) {
  const bool drops = run_.chance(20);
  const auto left = at->at->look().remaining();
  const auto began = net::now();
  std::string outcome = "ok";
  if (drops) {
    at->at->drop();
  } else {
    at->at->ends();
    outcome = outcome_of(at->at->alone([](lease& held) { return held.release(); }));
  }
  run_.did(who(at->id, at->by) + (drops ? " drops " : " releases ") + text_of(at->has) + ": " +
           outcome);
  const bool in_time = !at->on.fixed || net::now() - began < left;
  run_.expect(outcome == "ok" || !in_time, promises::released, "a release said " + outcome);
  if (!drops) {
    run_.expect(!at->at->look().held(), promises::released, "held after the release");
    const auto again = at->at->alone([](lease& held) { return held.release(); });
    run_.expect(static_cast<bool>(again) || !in_time, promises::released,
                "a second release failed");
  }
  const auto kept_by = std::pair{at->by, at->on};
  holders_.erase(at);
  if (kept_by.second.retain.count() > 0 && holders_.empty()) keeper_ = kept_by;
}

void stage::extend_one() {
  if (holders_.empty()) return;
  auto& one = holders_[run_.below(holders_.size())];
  const bool changes = has_pending_change(one.id);
  if (run_.chance(5)) {
    const auto said = outcome_of_call(
        [&] { (void)one.at->alone([](lease& held) { return held.extend(milliseconds{9}); }); });
    return run_.expect(said == "invalid_argument", promises::extended, "extend(9 ms): " + said);
  }
  const milliseconds by{run_.between(20, 40'000)};
  const auto before = one.at->look().remaining();
  const auto began = net::now();
  const auto got = one.at->alone([&](lease& held) { return held.extend(by); });
  const auto took = net::now() - began;
  run_.did(who(one.id, one.by) + " extends by " + std::to_string(by.count()) + ": " +
           outcome_of(got));
  if (!got && one.on.fixed && took >= before) return;
  if (changes && outcome_of(got) == "busy") return;  // it may be changed already
  run_.expect(static_cast<bool>(got), promises::extended, "extend said " + outcome_of(got));
  const auto now = one.at->look().remaining();
  const auto since = net::now() - began;
  run_.expect(now + since + by / 50 + milliseconds{4} >= by, promises::extended,
              "extended by " + std::to_string(by.count()) + " ms, believes " +
                  std::to_string(now.count()) + " ms");
  run_.expect(now + since + std::max(one.asked, before) / 50 + milliseconds{4} >= before,
              promises::extended,
              "extend shortened " + std::to_string(before.count()) + " ms to " +
                  std::to_string(now.count()) + " ms");
  one.window = std::max<nanoseconds>(one.window, took);
  one.asked = std::max(one.asked, by);
}

void stage::change_one(bool waits) {
  if (holders_.empty()) return release_one();
  auto& one = holders_[run_.below(holders_.size())];
  if (has_pending_change(one.id)) return;
  if (const auto refused = kind_.refused_change(one.has)) {
    const auto said = outcome_of_call([&] {
      (void)kind_.to_change(run_.of(one.by), name_, one.at->look(), one.has, *refused, one.on);
    });
    return run_.expect(said == "invalid_argument", promises::changed, "a refused change: " + said);
  }
  const auto targets = kind_.changes_of(one.has);
  if (targets.empty()) return;
  const auto to = run_.one_of(targets);
  bool deadlock = false;
  for (const auto& other : waiters_) {
    if (!other.changes || other.granted != 0 || no_more(to.in, one.has.in)) continue;
    const auto* const from = find(*other.changes);
    // Only what the documents are clear about: two who wait for each other.
    deadlock = from != nullptr && !go_together(other.asked.in, one.has.in) &&
               !go_together(to.in, from->has.in);
    if (!deadlock) return;
  }
  if (!waits || deadlock) return change_once(one.id, to, deadlock);
  const auto how = terms_of_change();
  const auto what = kind_.to_change(run_.of(one.by), name_, one.at->look(), one.has, to, how);
  run_.did(who(one.id, one.by) + " waits for a change from " + text_of(one.has) + " to " +
           text_of(to) + ", lease " + std::to_string(how.lease.count()) +
           (how.fixed ? " (fixed)" : ""));
  changed_ = true;
  const auto as = claim_of(to, one.by, one.id, how);
  waiters_.push_back({.id = ++ids_,
                      .asked = to,
                      .on = how,
                      .by = one.by,
                      .changes = one.id,
                      .at = start(what, as, long_enough)});
}

// With a deadlock: whoever would wait hears of it at once.
void stage::change_once(std::uint64_t id, const want& to, bool deadlock) {
  auto& one = *find(id);
  const auto how = terms_of_change();
  const auto what = kind_.to_change(run_.of(one.by), name_, one.at->look(), one.has, to, how);
  auto as = claim_of(to, one.by, one.id, how);
  const auto began = net::now();
  std::optional<result<lease>> got;
  const auto thrown = outcome_of_call([&] {
    got = what.try_acquire({.timeout = deadlock ? std::optional{long_enough} : std::nullopt});
  });
  const auto took = net::now() - began;
  const auto said = got ? outcome_of(*got) : thrown;
  run_.did(who(one.id, one.by) + " changes from " + text_of(one.has) + " to " + text_of(to) +
           ", lease " + std::to_string(how.lease.count()) + (how.fixed ? " (fixed)" : "") + ": " +
           said);
  const bool free = no_more(to.in, one.has.in) || kind_.admits(wants(one.id), to);
  const auto expected = deadlock ? "would_deadlock" : free ? "ok" : "busy";
  const bool certain = std::ranges::all_of(holders_, [&](const holder& each) {
    return each.id == id ? each.at->look().held() || (got && *got) : each.at->look().held();
  });
  if (certain || (said == "ok" && expected == std::string("busy"))) {
    run_.expect(said == expected || !certain,
                deadlock                     ? promises::deadlock
                : no_more(to.in, one.has.in) ? promises::less
                                             : promises::changed,
                "a change from " + text_of(one.has) + " to " + text_of(to) + " said " + said +
                    ", and should have: " + expected);
  }
  if (!got || !*got) return;
  run_.expect(!one.at->look().held(), promises::changed, "what was changed still says held");
  run_.expect(!one.at->look().lost().stop_requested(), promises::changed, "a change told a loss");
  const auto old = one.at->token();
  one.at->ends();
  one.at = observer_.watch(std::move(**got), std::move(as));
  one.has = to;
  one.on = how;
  one.window = std::max<nanoseconds>(one.window, took);
  one.asked = std::max(one.asked, how.lease);
  one.order = ++orders_;
  changed_ = true;
  judge_token(one, old);
}

void stage::stop_one() {
  std::vector<waiter*> could;
  for (auto& one : waiters_) {
    if (one.granted == 0 && !one.ends_by_itself && !one.loses) could.push_back(&one);
  }
  if (could.empty()) return;
  auto& one = *run_.one_of(could);
  run_.did(who(one.id, one.by) + " is stopped");
  one.stopped = true;
  one.at->stop.request_stop();
}

void stage::enter_again() {
  for (auto& one : holders_) {
    if (!one.by_this_thread || one.on.fixed) continue;
    const auto same = kind_.to_hold(run_.of(one.by), name_, one.has, one.on);
    const auto said =
        outcome_of_call([&] { (void)same.try_acquire({.timeout = milliseconds{20}}); });
    run_.did(who(one.id, one.by) + " waits for its own lock: " + said);
    return run_.expect(said == "would_deadlock", promises::reentry, "waiting for itself: " + said);
  }
}

void stage::resize() {
  if (!kind_.can_be_resized()) return;
  const auto count = static_cast<std::uint32_t>(run_.between(0, 8));
  kind_.resize(count);
  for (auto& one : waiters_) one.asks_too_much = one.asked.permits > kind_.permits();
  observer_.allow(name_, kind_.permits());
  run_.of(0).semaphore(name_).set_permits(count);
  run_.did("set_permits(" + std::to_string(count) + ")");
  said_permits_ = count == 0 ? std::nullopt : std::optional{count};
}

// A lease that has ended must stay so, whatever is asked of it.
void stage::harass(holder& ended) {
  const auto name = who(ended.id, ended.by);
  run_.expect(support::eventually([&] { return ended.at->look().lost().stop_requested(); },
                                  milliseconds{2'000}),
              promises::loss, name + " was not told the loss of its lease");
  const auto targets = kind_.changes_of(ended.has);
  if (!targets.empty() && run_.chance(60) && !has_pending_change(ended.id)) {
    const auto to = run_.one_of(targets);
    std::optional<result<lease>> got;
    const auto thrown = outcome_of_call([&] {
      got = kind_.to_change(run_.of(ended.by), name_, ended.at->look(), ended.has, to, ended.on)
                .try_acquire();
    });
    const auto said = got ? outcome_of(*got) : thrown;
    run_.did(name + " changes its ended lease to " + text_of(to) + ": " + said);
    run_.expect(said == "lost", promises::change_of_ended,
                "changing an ended lease from " + text_of(ended.has) + " to " + text_of(to) +
                    " said " + said);
  }
  if (run_.chance(30)) {
    const auto said =
        outcome_of(ended.at->alone([](lease& held) { return held.extend(milliseconds{1'000}); }));
    run_.did(name + " extends its ended lease: " + said);
    run_.expect(said == "lost", promises::extended, "extending an ended lease said " + said);
  }
  if (run_.chance(50)) {
    const auto said = outcome_of(ended.at->alone([](lease& held) { return held.release(); }));
    run_.did(name + " releases its ended lease: " + said);
    run_.expect(said == "lost" || said == "ok", promises::released,
                "releasing an ended lease said " + said);
  }
}

void stage::finish() {
  await_short_leases(margin);
  if (run_.chance(30)) {
    while (!holders_.empty() && anybody_waits()) {  // who waits comes in
      release_rest();
      converge();
      await_short_leases(margin);
    }
  } else {
    stop_all();
  }
  if (!holders_.empty() && waiters_.empty() && run_.chance(25)) break_it();
  while (!holders_.empty()) {
    await_short_leases(margin);
    release_rest();
    converge();
  }
  keeper_.reset();
  converge();
}

// From behind, so that nobody comes in since another left.
void stage::stop_all() {
  while (anybody_waits()) {
    await_short_leases(margin);
    const auto plain = std::find_if(waiters_.rbegin(), waiters_.rend(),
                                    [](const waiter& one) { return !one.changes; });
    auto& one = plain != waiters_.rend() ? *plain : waiters_.back();
    one.stopped = one.granted == 0 && !one.ends_by_itself && !one.loses;
    if (one.stopped) one.at->stop.request_stop();
    converge();
  }
}

void stage::release_rest() {
  std::erase_if(holders_, [&](const holder& one) {
    if (has_pending_change(one.id)) return false;
    one.at->drop();
    return true;
  });
  run_.did("all holders leave");
}

void stage::break_it() {
  observer_.excuse(name_);
  const auto seen = run_.on().looks().break_lock(name_, "the reference says so");
  run_.did("break_lock");
  run_.expect(!all_certain() || seen.state == lock_state::held, promises::broken,
              "broke what nobody had");
  for (const auto& one : holders_) {
    one.at->ends();
    const auto said = outcome_of(one.at->alone([](lease& held) { return held.release(); }));
    // A lock that its client keeps is released without asking the server.
    const bool unasked = said == "ok" && one.on.retain.count() > 0;
    run_.expect(said == "lost" || unasked, promises::broken,
                "the release of a broken lock said " + said);
  }
  holders_.clear();
  keeper_.reset();
  converge();
}

void play_held(run& choices, kind_maker make) {
  const auto kind = make(choices);
  stage play(choices, *kind);
  play.play(static_cast<int>(choices.between(8, 30)));
}

}  // namespace holdfast::reference
