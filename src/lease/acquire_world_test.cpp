// The acquire machine in a small world: a server whose lock others take too, requests and answers
// that get lost, come late or come twice, users that stop. Every sequence follows from its seed.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>

#include "lease/acquire_machine.hpp"
#include "lease/answers_for_tests.hpp"
#include "lease/deadline.hpp"
#include "lease/server_clock.hpp"
#include "lease/step_text_for_tests.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {
namespace {

using std::chrono::seconds;

constexpr int sequences = 100'000;
constexpr milliseconds response_timeout{200};
constexpr milliseconds lease{1000};

// How often what happened in all the worlds together.
using tally = std::map<std::string, int>;

// Runs one attempt from start to end and checks every step. Failures are kept as text.
class world {
 public:
  world(std::uint64_t seed, tally& seen)
      : random_(seed),
        seen_(seen),
        fencing_(upto(1) != 0),
        patience_(some_patience()),
        machine_(new_claim(test_claim(lease)), patience_,
                 {.response_timeout = response_timeout, .seed = seed}) {}

  std::string run() {
    obey(machine_.start(now_));
    if (chance(40)) at(now_ + upto(seconds(3)), [this] { obey(machine_.on_stop(now_)); });
    for (auto n = upto(5); n > 0; --n) {
      at(now_ + upto(seconds(3)), [this] { obey(machine_.on_woken(now_)); });
    }
    // In a world without faults, a client that waits for ever is stopped at last.
    at(local_start + seconds(20), [this] {
      calm_ = true;
      obey(machine_.on_stop(now_));
    });
    while (!agenda_.empty() && problem_.empty()) {
      const auto next = agenda_.begin();
      now_ = next->first;
      const auto action = std::move(next->second);
      agenda_.erase(next);
      action();
    }
    check_the_end();
    return problem_;
  }

 private:
  enum class owner { nobody, other, us };

  // ---- chance and time

  bool chance(int percent) { return static_cast<int>(random_() % 100) < percent && !calm_; }
  nanoseconds upto(nanoseconds most) { return nanoseconds(random_() % (most.count() + 1)); }
  std::uint64_t upto(std::uint64_t most) { return random_() % (most + 1); }
  void at(monotonic_time when, std::function<void()> action) {
    agenda_.emplace(when, std::move(action));
  }
  server_time server_now() const {
    return server_start + std::chrono::floor<microseconds>(now_ - local_start);
  }
  // The estimate is up to 20 ms behind the server.
  server_time estimate() {
    return server_now() - std::chrono::floor<microseconds>(upto(milliseconds(20)));
  }
  patience some_patience() {
    switch (upto(2)) {
      case 0:
        return {};
      case 1:
        return {true, monotonic_time::max()};
      default:
        return {true, local_start + upto(seconds(3))};
    }
  }

  // ---- the runtime: obeys each step, after checking it

  void obey(const step& next) {
    const monotonic_time give_up_at =
        patience_.waits && !told_ ? patience_.give_up_at : monotonic_time::max();
    if (finished_ && next != step{}) complain("something after the end", next);
    if (next.done && told_) complain("told twice", next);
    if (next.wake_at && *next.wake_at < now_) complain("wakes in the past", next);
    if (next.wake_at && !next.done && *next.wake_at > std::max(now_, give_up_at)) {
      complain("wakes when the patience is over", next);
    }
    if (next.send != ask::nothing && under_way_) complain("two requests under way", next);
    if (next.finished && !next.done && !told_) complain("ends without outcome", next);
    if (next.finished && next.send != ask::nothing) complain("sends at the end", next);
    told_ = told_ || next.done;
    count(next);
    if (next.done && !next.done->code) check_held(next);
    finished_ = finished_ || next.finished;
    if (next.wake_at) set_timer(*next.wake_at);
    if (next.send != ask::nothing) send(next);
    if (patience_.waits && !told_ && patience_.give_up_at != monotonic_time::max() &&
        (!timer_ || *timer_ > std::max(now_, patience_.give_up_at))) {
      complain("no timer for the end of the patience", next);
    }
    if (!finished_ && !under_way_ && !timer_) complain("nothing will ever wake it", next);
    check_leak();
  }

  void count(const step& next) {
    if (next.done) {
      ++seen_[next.done->code ? make_error_code(*next.done->code).message() : "held"];
    }
    if (next.resend) ++seen_["resend"];
    if (next.send == ask::release) ++seen_[told_ ? "release, told" : "release, not told"];
    if (next.send == ask::withdraw) ++seen_["withdraw"];
    if (next.learned) ++seen_["late"];
  }

  void set_timer(monotonic_time when) {
    timer_ = when;
    const nanoseconds oversleeps = upto(chance(5) ? seconds(3) : seconds(0));
    at(when + oversleeps, [this, when] {
      if (timer_ != when) return;
      timer_.reset();
      obey(machine_.on_timer(now_));
      if (!told_ && patience_.waits && now_ >= patience_.give_up_at) {
        complain("not told when the patience is over", {});
      }
    });
  }

  // The possible ends of a request: answered, never sent, lost before or after the server has
  // executed it, or delayed and executed some time after it was given up.
  void send(const step& next) {
    under_way_ = true;
    const monotonic_time sent_at = now_;
    const auto not_after = leasing::not_after({now_, estimate()}, response_timeout);
    const auto executed = [this, what = next.send, not_after, names = machine_.claim().granted] {
      return what == ask::acquire ? heard{acquired(not_after)} : heard{given_back(what, names)};
    };
    if (chance(10)) return missing_at(now_ + upto(milliseconds(50)), no_answer::not_sent);
    if (chance(10)) return missing_at(now_ + upto(response_timeout), no_answer::unknown);
    if (chance(20)) {
      ++copies_;
      missing_at(now_ + upto(response_timeout), no_answer::unknown);
      return at(now_ + upto(response_timeout * 3), [this, executed] {
        --copies_;
        executed();
        check_leak();
      });
    }
    const nanoseconds there = upto(chance(10) ? nanoseconds(response_timeout) * 2 : seconds(0));
    const nanoseconds back = upto(chance(5) ? nanoseconds(seconds(2)) : milliseconds(1));
    at(now_ + there, [this, executed, sent_at, back] {
      at(now_ + back, [this, verdict = executed(), sent_at] {
        under_way_ = false;
        const auto* const got = std::get_if<substrate::acquire_verdict>(&verdict);
        obey(got != nullptr
                 ? machine_.on_acquired(*got, sent_at, now_)
                 : machine_.on_given_back(std::get<substrate::release_verdict>(verdict), now_));
      });
    });
  }

  void missing_at(monotonic_time when, no_answer how) {
    at(when, [this, how] {
      under_way_ = false;
      obey(machine_.on_missing(how, {errc::unavailable, "lost"}, now_));
    });
  }

  // ---- the server

  owner holder() {
    if (now_ >= expires_at_) holder_ = owner::nobody;
    return holder_;
  }

  using heard = std::variant<substrate::acquire_verdict, substrate::release_verdict>;

  // Somebody else comes and goes.
  void let_others_in() {
    if (holder() == owner::nobody && chance(50)) hold(owner::other, milliseconds(upto(300)));
  }

  substrate::release_verdict given_back(ask what, substrate::token_major names) {
    if (chance(10)) return say_back("passing", errc::loading);
    let_others_in();
    if (holder() != owner::us || (what == ask::release && names != token_)) {
      return say_back("not mine");
    }
    if (now_ < held_until_) complain("our lock is freed while we hold it", {});
    holder_ = owner::nobody;
    return say_back("released");
  }

  substrate::acquire_verdict acquired(server_time not_after) {
    if (chance(10)) return say("passing", errc::loading);
    let_others_in();
    if (server_now() > not_after) {
      return say("late", server_now().time_since_epoch().count());
    }
    if (chance(1)) return say("refused", errc::foreign_key);
    if (holder() == owner::other) {
      const auto left = std::chrono::ceil<milliseconds>(expires_at_ - now_);
      return chance(50) ? say("busy") : say("busy for", left.count());
    }
    if (fencing_ && holder() != owner::us) ++token_;
    hold(owner::us, lease);
    return say_granted(lease, token_);
  }

  void hold(owner who, milliseconds how_long) {
    holder_ = who;
    expires_at_ = now_ + how_long;
  }

  // ---- promises

  void check_held(const step& next) {
    held_until_ = next.done->deadline;
    if (now_ >= held_until_) complain("a lease that is over", next);
    if (holder() != owner::us || expires_at_ < held_until_) complain("believes too much", next);
    if (!next.finished) complain("held, but not finished", next);
  }

  // A client that was told an error holds nothing in the end, whatever the server executes late.
  void check_leak() {
    if (finished_ && copies_ == 0 && held_until_ == monotonic_time{} && holder() == owner::us) {
      complain("the lock leaks", {});
    }
  }

  void check_the_end() {
    if (!problem_.empty()) return;
    if (!finished_ || !told_) complain("never ends", {});
    for (const step& late :
         {machine_.on_timer(now_), machine_.on_stop(now_), machine_.on_woken(now_),
          machine_.on_missing(no_answer::unknown, {}, now_),
          machine_.on_acquired(say("granted", 1000), now_, now_)}) {
      if (late != step{}) complain("something after the end", late);
    }
  }

  void complain(const std::string& what, const step& about) {
    if (!problem_.empty()) return;
    problem_ = what + " at " +
               std::to_string(std::chrono::duration<double>(now_ - local_start).count()) +
               " s: " + to_string(about);
  }

  std::mt19937_64 random_;
  tally& seen_;
  bool fencing_;
  patience patience_;
  acquire_machine machine_;
  monotonic_time now_ = local_start;
  std::multimap<monotonic_time, std::function<void()>> agenda_;
  bool calm_ = false;

  owner holder_ = owner::nobody;
  monotonic_time expires_at_{};
  substrate::token_major token_ = 0;  // stays 0 without fencing
  int copies_ = 0;                    // requests that were given up and may still be executed

  bool under_way_ = false;
  std::optional<monotonic_time> timer_;
  bool told_ = false;
  bool finished_ = false;
  monotonic_time held_until_{};
  std::string problem_;
};

TEST(AcquireMachine, KeepsItsPromisesInAnyWorld) {
  tally seen;
  for (std::uint64_t seed = 0; seed < sequences; ++seed) {
    const std::string problem = world(seed, seen).run();
    ASSERT_EQ(problem, "") << "seed " << seed;
  }
  // The worlds are as rich as they should be.
  for (const char* what :
       {"held", "resend", "release, told", "release, not told", "withdraw", "late"}) {
    EXPECT_GT(seen[what], sequences / 1000) << what;
  }
  for (const errc code : {errc::busy, errc::timed_out, errc::cancelled, errc::unavailable,
                          errc::foreign_key, errc::loading}) {
    EXPECT_GT(seen[make_error_code(code).message()], sequences / 1000) << make_error_code(code);
  }
}

}  // namespace
}  // namespace holdfast::leasing
