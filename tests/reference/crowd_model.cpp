// A crowd: threads of several clients do whatever they like to a few locks at once. What each call
// returns is judged only where it is certain (which errors it may give, how long it may take); the
// observer judges the rest, from what all of them believe.
//
//   lock.hpp: "Errors of all verbs: `busy` (asked once), `timed_out`, `cancelled`".
//   options.hpp, timeout: "How long to wait."
//   kinds.md: "passed on: local hand-over. The threads and coroutines of one client hand it over
//     among themselves, without the server".
#include <algorithm>
#include <set>
#include <thread>

#include <holdfast/all_of.hpp>

#include "net/clock.hpp"
#include "reference/held_kind.hpp"
#include "reference/kinds.hpp"
#include "reference/promises.hpp"
#include "support/eventually.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence errors{
    "include/holdfast/lock.hpp",
    "Errors of all verbs: `busy` (asked once), `timed_out`, `cancelled` [...]"};

// The work of one thread, with choices of its own: which thread does what does not depend on time.
class member {
 public:
  member(run& of, world& on, held_kind& kind, observer& sees, std::string name, std::size_t by,
         std::uint64_t seed)
      : run_(of),
        choices_(on, "crowd", seed),
        kind_(kind),
        sees_(sees),
        name_(std::move(name)),
        by_(by),
        who_("thread " + std::to_string(seed)) {}

  void play(int steps) {
    for (int i = 0; i < steps; ++i) {
      const auto how = any_terms();
      const auto asked = kind_.any(choices_);
      const auto what = kind_.to_hold(run_.of(by_), name_, asked, how);
      std::stop_source stop;
      const bool stops = choices_.chance(10);
      const auto timeout = choices_.chance(30) ? 0 : choices_.between(1, 60);
      std::jthread stopper;
      if (stops) stopper = std::jthread([&stop] { stop.request_stop(); });
      const auto began = net::now();
      auto got = what.try_acquire({.timeout = milliseconds{timeout}}, stop.get_token());
      const auto said = outcome_of(got);
      run_.did(who_ + " " + text_of(asked) + " " + std::to_string(timeout) + " ms: " + said +
               (got ? " " + got->token().to_string() : ""));
      static const std::set<std::string> possible{"ok", "busy", "timed_out", "cancelled"};
      run_.expect(possible.contains(said) && (said != "cancelled" || stops), errors,
                  who_ + " got " + said);
      if (got) hold(claim_of(asked, how, began), std::move(*got), asked, how);
    }
  }

 private:
  terms any_terms() {
    terms how;
    how.fixed = kind_.has_terms() && choices_.chance(40);
    how.lease = milliseconds{how.fixed ? choices_.between(20, 80) : 5'000};
    how.fair = choices_.chance(30);
    if (kind_.retains() && !how.fixed && !how.fair) how.retain = milliseconds{20};
    return how;
  }

  claim claim_of(const want& asked, const terms& how, monotonic_time began) {
    return {.lock = name_,
            .family = kind_.family(),
            .has = asked,
            .ordered = asked.in != mode::pr || how.fair || how.fixed,
            .same_hold = (std::uint64_t{choices_.seed()} << 20) + ++holds_,
            .asked = began,
            .who = who_};
  }

  void hold(claim as, lease value, const want& asked, const terms& how) {
    auto has = sees_.watch(std::move(value), as);
    linger();
    const auto targets = kind_.changes_of(asked);
    if (!targets.empty() && choices_.chance(40)) {
      has = change(std::move(has), as, asked, choices_.one_of(targets), how);
    }
    if (choices_.chance(20)) {
      (void)has->alone(
          [&](lease& held) { return held.extend(milliseconds{choices_.between(10, 100)}); });
      linger();
    }
    if (choices_.chance(30)) return has->drop();
    if (how.fixed && choices_.chance(30)) {  // died
      (void)support::eventually([&] { return !has->look().held(); });
      return;
    }
    has->ends();
    (void)has->alone([](lease& held) { return held.release(); });
  }

  std::shared_ptr<watched> change(std::shared_ptr<watched> has, claim as, const want& from,
                                  const want& to, const terms& how) {
    as.has = to;
    as.asked = net::now();
    const auto what = kind_.to_change(run_.of(by_), name_, has->look(), from, to, how);
    result<lease> got = errc::busy;
    (void)outcome_of_call(
        [&] { got = what.try_acquire({.timeout = milliseconds{choices_.between(0, 30)}}); });
    run_.did(who_ + " changes to " + text_of(to) + ": " + outcome_of(got));
    if (!got) return has;
    has->ends();
    auto now = sees_.watch(std::move(*got), std::move(as));
    linger();
    return now;
  }

  // For some rounds of the observer.
  void linger() {
    const auto enough = sees_.rounds() + choices_.below(4);
    (void)support::eventually([&] { return sees_.rounds() >= enough; }, milliseconds{100});
  }

  run& run_;
  run choices_;
  held_kind& kind_;
  observer& sees_;
  const std::string name_;
  const std::size_t by_;
  const std::string who_;
  std::uint64_t holds_ = 0;
};

}  // namespace

void play_crowd(run& choices) {
  static const std::vector<kind_maker> makers{mutex_kind,      retained_kind,  election_kind,
                                              read_write_kind, semaphore_kind, mode_lock_kind};
  const auto kind = choices.one_of(makers)(choices);
  const auto name = choices.fresh_name();
  observer sees(choices);
  sees.allow(name, kind->permits());
  std::mutex guard;
  std::exception_ptr broken;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        try {
          member(choices, choices.world_of(), *kind, sees, name, i % choices.on().clients(),
                 choices.seed() * 100 + i)
              .play(12);
        } catch (...) {
          const std::lock_guard lock(guard);
          broken = std::current_exception();
        }
      });
    }
  }
  if (broken) std::rethrow_exception(broken);
  sees.check();
  choices.expect(support::eventually(
                     [&] {
                       const auto seen = choices.on().looks().status(name);
                       return seen.state == lock_state::free && seen.waiting == 0;
                     },
                     milliseconds{10'000}),
                 promises::gone, "not free when all have gone");
}

}  // namespace holdfast::reference
