// One name, one kind: each kind is asked for under the name of each other kind, in each state that
// a lock can be in. All of it is refused, and changes nothing.
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "redis/dialects/holdfast/latch.hpp"
#include "redis/dialects/holdfast/mutex.hpp"
#include "redis/dialects/holdfast/shared_lock.hpp"
#include "redis/dialects/holdfast/waiting.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

enum class kind : std::uint8_t { mutex, modes, permits, latch, barrier };
constexpr std::array all_kinds{kind::mutex, kind::modes, kind::permits, kind::latch, kind::barrier};
constexpr std::array names{"mutex", "modes", "permits", "latch", "barrier"};

// held: nobody waits. queued: two wait. ended: the lease is over, and they have not asked yet. At
// a latch or a barrier, where nothing is held: its key is gone. handed over: the first of them has
// it, and has not confirmed that.
enum class state : std::uint8_t { held, queued, ended, handed_over };
constexpr std::array all_states{state::held, state::queued, state::ended, state::handed_over};
constexpr std::array state_names{"held", "queued", "ended", "handed over"};

const recipe& recipe_of(kind one) {
  switch (one) {
    case kind::mutex:
      return native_mutex(fencing::on);
    case kind::modes:
    case kind::permits:
      return native_shared_lock();
    case kind::latch:
      return native_latch();
    case kind::barrier:
      return native_barrier();
  }
  return native_mutex(fencing::on);
}

const demand* demand_of(kind one) {
  static const demand writer{.mode = 'x'}, permit{.mode = 's', .weight = 1, .limit = 1},
      party{.mode = 'b', .weight = 1, .limit = 9};
  if (one == kind::modes) return &writer;
  if (one == kind::permits) return &permit;
  return one == kind::barrier ? &party : nullptr;
}

bool is_shared(kind one) { return one == kind::modes || one == kind::permits; }

class KindsScript : public scripts_test {
 protected:
  claim next(kind of, bool waits) {
    claim made = claims.next();
    made.wants = demand_of(of);
    made.waits = waits;
    made.way = wakeup_way::poll;
    return made;
  }

  acquire_verdict ask(kind of, const claim& what) {
    const auto& how = recipe_of(of);
    return how.read_acquire(
        what, redis().ask([&](auto& out) { how.write_acquire(what, false, never, out); }));
  }
  void give_back(kind of, const claim& what) {
    redis().ask([&](auto& out) { recipe_of(of).write_release(what, out); });
  }
  void withdraw(kind of, const claim& what) {
    redis().ask([&](auto& out) { recipe_of(of).write_withdraw(what, out); });
  }

  // The lock of that kind, in that state. False: there is no such state.
  bool set_up(kind of, state in) {
    redis().command({"FLUSHALL"});
    waiters_.clear();
    holder_ = next(of, false);
    const bool is_gate = of == kind::latch || of == kind::barrier;
    if (of == kind::latch) {
      change(latch_set(key, 2));
    } else if (of == kind::barrier) {
      claim early = next(of, true);
      EXPECT_TRUE(std::holds_alternative<queued>(ask(of, early)));
      waiters_.push_back(early);
    } else {
      const auto verdict = ask(of, holder_);
      const auto* const grant = std::get_if<granted>(&verdict);
      EXPECT_NE(grant, nullptr) << script_client::why(verdict);
      if (grant != nullptr) holder_.granted = grant->major;
    }
    if (in == state::held) return true;
    for (int i = 0; i < 2; ++i) {
      claim one = next(of, true);
      const auto verdict = ask(of, one);
      EXPECT_TRUE(std::holds_alternative<queued>(verdict)) << script_client::why(verdict);
      if (const auto* const where = std::get_if<queued>(&verdict)) one.ticket = where->ticket;
      waiters_.push_back(one);
    }
    if (in == state::ended) end_the_lease();
    if (in == state::handed_over) {
      if (is_gate) return false;
      give_back(of, holder_);
    }
    return true;
  }

  // None: it was done.
  std::optional<errc> change(const once_call& asked) {
    const server_time not_after{microseconds(redis().micros() + 10'000'000)};
    const auto verdict = read_once(redis().ask(
        [&](auto& out) { write_once(key_space{}, asked, claims.next().owner, not_after, out); }));
    if (const auto* const why = std::get_if<refused>(&verdict)) return why->code;
    const auto change = read_latch_change(key, std::get<once_answer>(verdict));
    const auto* const why = std::get_if<refused>(&change);
    return why != nullptr ? std::optional(why->code) : std::nullopt;
  }

  // Everything that somebody can ask who takes the lock for one of that kind.
  void expect_refused(kind of, kind by) {
    for (const bool waits : {false, true}) {
      SCOPED_TRACE(waits ? "waits" : "asks once");
      const claim intruder = next(by, waits);
      const auto verdict = ask(by, intruder);
      const auto* const why = std::get_if<refused>(&verdict);
      EXPECT_TRUE(why != nullptr && why->code == errc::foreign_key) << script_client::why(verdict);
      // Withdrawing lets in those in front, and for modes and permits one script does that.
      if (!is_shared(of) || !is_shared(by)) withdraw(by, intruder);
    }
    if (by == kind::latch) {
      EXPECT_EQ(change(latch_set(key, 3)), errc::foreign_key);
      EXPECT_EQ(change(latch_count_down(key, 1)), errc::foreign_key);
      EXPECT_EQ(change(latch_count_down(key, 0)), errc::foreign_key);
    }
    if (by == kind::modes) {
      static const demand null_mode{.mode = 'n'};
      claim intruder = next(by, false);
      intruder.wants = &null_mode;
      EXPECT_EQ(code_of(ask(by, intruder)), errc::foreign_key);
    }
    if (by == kind::modes && of != kind::permits) {  // breaking is the same for both
      redis().ask([&](auto& out) { write_break_shared(key, never, out); });
    }
    if (by == kind::permits) {
      const auto set = redis().ask([&](auto& out) { write_set_permits(key, 5, never, out); });
      EXPECT_EQ(code_of(read_permits_set(key, set)), errc::foreign_key);
    }
    if (by == kind::mutex) {
      const claim intruder = next(by, false), *const only = &intruder;
      const auto all = redis().ask([&](auto& out) { write_acquire_all({&only, 1}, never, out); });
      EXPECT_EQ(all.number, 0) << "nothing is taken";
      redis().ask([&](auto& out) { write_break(key, never, out); });
    }
  }

  // Those who wait are served in their order.
  void expect_served(kind of, state in) {
    if (of == kind::latch || of == kind::barrier || in == state::held) return;
    if (in == state::queued) give_back(of, holder_);
    for (claim& one : waiters_) {
      const auto verdict = ask(of, one);
      const auto* const grant = std::get_if<granted>(&verdict);
      ASSERT_NE(grant, nullptr) << script_client::why(verdict);
      one.granted = grant->major;
      give_back(of, one);
    }
  }

 private:
  claim holder_ = claims.next();
  std::vector<claim> waiters_;
};
HOLDFAST_ON_EACH_SERVER(KindsScript);

TEST_P(KindsScript, EachKindIsRefusedUnderTheNameOfEachOther) {
  for (const kind of : all_kinds) {
    for (const state in : all_states) {
      for (const kind by : all_kinds) {
        if (by == of || !set_up(of, in)) continue;
        SCOPED_TRACE(std::string{names[static_cast<std::size_t>(of)]} + " that is " +
                     state_names[static_cast<std::size_t>(in)] + ", asked for as " +
                     names[static_cast<std::size_t>(by)]);
        const auto before = redis().contents();
        expect_refused(of, by);
        EXPECT_EQ(redis().contents(), before);
        expect_served(of, in);
      }
    }
  }
}

// Its first attempt is a plain SET NX, which looks at no queue. What waits there keeps its order.
TEST_P(KindsScript, AMutexWithoutTokensGetsInWhenTheLeaseOfAnotherKindHasEnded) {
  ASSERT_TRUE(set_up(kind::modes, state::ended));
  const auto& plain = native_mutex(fencing::off);
  claim intruder = next(kind::mutex, false);
  const auto verdict = plain.read_acquire(
      intruder, redis().ask([&](auto& out) { plain.write_acquire(intruder, false, never, out); }));
  ASSERT_TRUE(std::holds_alternative<granted>(verdict));
  const auto waiting = redis().command({"ZRANGE", key.value_key() + ":w", "0", "-1"});
  EXPECT_EQ(code_of(ask(kind::modes, next(kind::modes, true))), errc::foreign_key);
  EXPECT_EQ(code_of(ask(kind::mutex, next(kind::mutex, true))), errc::foreign_key);
  give_back(kind::mutex, intruder);
  EXPECT_FALSE(redis().exists(key.value_key()));
  EXPECT_EQ(redis().command({"ZRANGE", key.value_key() + ":w", "0", "-1"}), waiting);
  expect_served(kind::modes, state::ended);
}

// Both keys of a barrier have ended, and its party has gone to another name: here is a mutex now.
TEST_P(KindsScript, APartyThatLeavesTakesNoLockOfAnotherKindWithIt) {
  claim party = next(kind::barrier, true);
  ASSERT_TRUE(std::holds_alternative<queued>(ask(kind::barrier, party)));
  redis().command({"SET", key.value_key(), "1:17:somebody", "PX", "30000"});
  withdraw(kind::barrier, party);
  EXPECT_EQ(redis().get(key.value_key()), "1:17:somebody");
}

}  // namespace
}  // namespace holdfast::dialects
