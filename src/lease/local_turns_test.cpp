#include "lease/local_turns.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::leasing {

void PrintTo(const local_turns::step& what, std::ostream* out) { *out << to_string(what); }

namespace {

using step = local_turns::step;

constexpr milliseconds lease{1000};

// Two threads and a coroutine of one client that want a lock, and the driver.
struct client_of_three {
  // One event at a time, each a microsecond after the other, by name; the driver's tasks, with the
  // names of the waiters.
  std::string play(const std::string& event) {
    now += microseconds(1);
    // The next event comes at the end, to the microsecond.
    if (event == "the slice ends") return now = granted_at + local_slice - microseconds(1), "";
    if (event == "the turn ends") return now = granted_at + local_turn - microseconds(1), "";
    if (event == "the lease is nearly over") return left = lease / 4, "";
    if (event == "a moment of the lease is left") return left = nanoseconds(1), "";
    if (event == "the lease is over") return left = {}, "";
    if (event == "floor 7") return turns.raise_floor(7), "";
    if (event == "floor 8") return turns.raise_floor(8), "";
    if (event == "asks") return turns.ask(), "";
    if (event == "granted") return granted(8, false);
    if (event == "granted in the queue") return granted(8, true);
    if (event == "granted without a token") return granted(0, false);
    if (event == "failed") return said(turns.on_failed());
    if (event == "take") {
      const auto minor = turns.take(seen());
      return minor == 0 ? "-" : "minor " + std::to_string(minor);
    }
    if (event == "released") return said(turns.on_released(seen()));
    if (event == "lost") return said(turns.on_lost());
    if (event == "revoked") return said(turns.on_revoked());
    if (event == "timer") return said(turns.on_timer());
    auto& who = event[0] == 'A' ? a : event[0] == 'B' ? b : c;
    if (event.ends_with(" joins")) return said(turns.on_joined(who, seen()));
    if (event.ends_with(" looks")) return said(turns.on_looked(who, seen()));
    if (event.ends_with(" leaves")) return said(turns.on_left(who, seen()));
    ADD_FAILURE() << "no such event: " << event;
    return {};
  }

  std::string granted(substrate::token_major major, bool was_queued) {
    granted_at = now;
    turns.on_granted(major, was_queued, now);
    return {};
  }

  std::string said(const step& what) const {
    std::string text;
    const auto say = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
    if (what.gives_back) say("back");
    if (what.holds != nullptr) say(name(what.holds) + " has minor " + std::to_string(what.minor));
    if (what.wakes != nullptr) say("wake " + name(what.wakes));
    if (what.asks != nullptr) say(name(what.asks) + " asks");
    if (what.sets_timer) say("set timer");
    return text.empty() ? "-" : text;
  }
  std::string name(const local_turns::waiter* who) const {
    return who == &a ? "A" : who == &b ? "B" : "C";
  }
  local_turns::glance seen() const { return {now, left}; }

  local_turns turns;
  local_turns::waiter a{true}, b{true}, c{false};
  monotonic_time now{std::chrono::seconds(1)}, granted_at{};
  nanoseconds left = std::chrono::seconds(10);
};

using path = std::vector<std::string>;

std::string after(const path& events, const std::string& last, bool retains = false) {
  client_of_three client{.turns = local_turns{{.lease = lease, .retains = retains}}};
  for (const auto& event : events) client.play(event);
  return client.play(last);
}

std::string lock_after(const path& events) {
  client_of_three client{.turns = local_turns{{.lease = lease, .retains = true}}};
  for (const auto& event : events) client.play(event);
  if (client.turns.is_idle()) return "idle";
  if (!client.turns.is_taken()) return "free";
  return client.turns.is_held() ? "held" : "asked for";
}

path operator+(path first, const path& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

const path held{"asks", "granted"};
const path wanted = held + path{"A joins"};      // by a thread
const path offered = wanted + path{"released"};  // and that is waking up
const path retained = held + path{"released"};   // where the client retains locks

TEST(LocalTurns, FollowTheirTable) {
  struct row {
    path before;
    std::vector<std::string> expected;  // per event, in the order below
  };
  const path events{"take", "A joins", "released", "revoked", "timer", "lost"};
  const std::vector<row> table = {
      {{}, {"-", "A asks", "", "-", "-", ""}},
      {{"asks"}, {"-", "-", "", "-", "-", ""}},
      {held, {"-", "-", "set timer", "-", "-", "-"}},
      {offered + path{"B joins"}, {"minor 1", "", "", "-", "-", "back, A asks"}},
      {retained, {"minor 1", "wake A", "", "back", "back", "back"}},
      {retained + path{"take", "released"}, {"minor 2", "wake A", "", "back", "set timer", "back"}},
  };
  for (const row& one : table) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (one.expected[i].empty()) continue;  // it cannot come then
      std::string text;
      for (const auto& event : one.before) text += event + ", ";
      EXPECT_EQ(after(one.before, events[i], true), one.expected[i]) << text << events[i];
    }
  }
}

TEST(LocalTurns, SayWhetherTheLockIsTaken) {
  EXPECT_EQ(lock_after({}), "free");
  EXPECT_EQ(lock_after({"asks"}), "asked for");
  EXPECT_EQ(lock_after(held), "held");
  EXPECT_EQ(lock_after(offered), "idle");
  EXPECT_EQ(lock_after(retained), "idle");
}

TEST(LocalTurns, GiveBackWhatNobodyWaitsForUnlessItIsRetained) {
  EXPECT_EQ(after(held, "released"), "back");
  EXPECT_EQ(after(held, "released", true), "set timer");
}

TEST(LocalTurns, RetainNothingThatOthersMayWaitFor) {
  EXPECT_EQ(after({"asks", "granted in the queue"}, "released", true), "back");
  EXPECT_EQ(after(held + path{"revoked"}, "released", true), "back");
  EXPECT_EQ(after({"asks", "revoked", "granted"}, "released", true), "back") << "while it asks";
  EXPECT_EQ(after({"asks", "revoked", "granted", "released", "asks", "granted"}, "released", true),
            "set timer")
      << "of another grant";
}

TEST(LocalTurns, DoNotRetainALeaseThatIsOver) {
  EXPECT_EQ(after(held + path{"the lease is over"}, "released", true), "back");
  EXPECT_EQ(after(held + path{"a moment of the lease is left"}, "released", true), "set timer");
}

TEST(LocalTurns, RetainALockForAsLongAsItIsUsed) {
  EXPECT_EQ(after(retained + path{"take"}, "timer", true), "-");
  EXPECT_EQ(after(retained + path{"take", "timer"}, "released", true), "set timer");
  EXPECT_EQ(after(retained + path{"take", "released", "timer"}, "timer", true), "back");
}

TEST(LocalTurns, HandTheLockToACoroutineAtOnce) {
  EXPECT_EQ(after(held + path{"C joins"}, "released"), "C has minor 1");
  EXPECT_EQ(after(held + path{"C joins", "A joins"}, "released"), "C has minor 1, wake A");
  EXPECT_EQ(after(retained, "C joins", true), "C has minor 1");
}

TEST(LocalTurns, OfferItUntilTheFirstThreadHasWokenUp) {
  EXPECT_EQ(after(wanted, "released"), "wake A");
  EXPECT_EQ(after(offered, "take"), "minor 1") << "by a thread that runs";
  EXPECT_EQ(after(offered, "A looks"), "A has minor 1");
  EXPECT_EQ(after(offered + path{"take"}, "released"), "-") << "it is waking up";
  EXPECT_EQ(after(offered + path{"take"}, "A looks"), "-") << "too late, but it is next";
}

TEST(LocalTurns, ArePassedToTheFirstThreadThatIsReadyWhenTheSliceIsOver) {
  const path ready = offered + path{"take", "A looks"};
  EXPECT_EQ(after(ready, "released"), "wake A") << "it may have gone to sleep again";
  EXPECT_EQ(after(ready + path{"the slice ends"}, "released"), "A has minor 2");
  const path second = ready + path{"the slice ends", "B joins"};
  EXPECT_EQ(after(second, "released"), "A has minor 2, wake B");
  EXPECT_EQ(after(second + path{"released", "B looks"}, "released"), "wake B") << "a new slice";
}

TEST(LocalTurns, LetOnlyTheFirstInTheLineTakeWhatIsOffered) {
  EXPECT_EQ(after(offered + path{"B joins"}, "B looks"), "-");
  EXPECT_EQ(after(offered + path{"B joins"}, "A looks"), "A has minor 1");
}

TEST(LocalTurns, EndWithTheTurn) {
  EXPECT_EQ(after(wanted + path{"the turn ends"}, "released"), "back, A asks");
  EXPECT_EQ(after(offered + path{"the turn ends"}, "A looks"), "A has minor 1") << "it was told";
}

TEST(LocalTurns, DoNotHandOnWhatIsNearlyOver) {
  const path over{"the lease is nearly over"};
  EXPECT_EQ(after(wanted + over, "released"), "back, A asks");
  EXPECT_EQ(after(offered + over, "take"), "-");
  EXPECT_EQ(after(offered + over, "A looks"), "back, A asks");
  EXPECT_EQ(after(retained + over, "B joins", true), "back, B asks");
}

TEST(LocalTurns, DoNotHandOnWhatIsRevoked) {
  EXPECT_EQ(after(wanted + path{"revoked"}, "released"), "back, A asks");
  EXPECT_EQ(after(offered + path{"revoked"}, "take"), "-");
}

TEST(LocalTurns, DoNotHandOnATokenThatAResourceRefuses) {
  EXPECT_EQ(after(wanted + path{"floor 7"}, "released"), "wake A");
  EXPECT_EQ(after(wanted + path{"floor 8"}, "released"), "back, A asks");
  EXPECT_EQ(after(wanted + path{"floor 8", "floor 7"}, "released"), "back, A asks");
  EXPECT_EQ(after({"asks", "granted without a token", "A joins"}, "released"), "wake A");
}

TEST(LocalTurns, BeginWithTheFirstMinorOfEachGrant) {
  const path again = retained + path{"take", "released", "revoked", "asks", "granted", "released"};
  EXPECT_EQ(after(again, "take", true), "minor 1");
}

TEST(LocalTurns, EndWithTheLastMinor) {
  path all = held;
  for (std::uint32_t minor = 1; minor <= last_minor; ++minor) {
    all.emplace_back("released");
    all.emplace_back("take");
  }
  EXPECT_EQ(after(path{all.begin(), all.end() - 1}, "take", true), "minor 2047");
  EXPECT_EQ(after(all, "released", true), "back");
  EXPECT_EQ(after(all + path{"A joins"}, "released", true), "back, A asks");
}

TEST(LocalTurns, LetTheNextAskWhenTheOneThatAskedHasFailed) {
  EXPECT_EQ(after({"asks", "A joins", "B joins"}, "failed"), "A asks");
  EXPECT_EQ(after({"asks", "A joins", "failed", "B joins"}, "failed"), "B asks");
  EXPECT_EQ(after({"asks", "failed"}, "A joins"), "A asks") << "nobody does";
  EXPECT_EQ(after({"asks", "failed", "A joins"}, "B joins"), "-") << "A does";
}

TEST(LocalTurns, DoNotWaitForAHolderThatHasLostTheLease) {
  EXPECT_EQ(after(wanted, "lost"), "A asks");
  EXPECT_EQ(after(offered, "lost"), "back, A asks");
  EXPECT_EQ(after(retained, "lost", true), "back");
}

TEST(LocalTurns, GoOnWithTheNextWhenAWaiterLeaves) {
  EXPECT_EQ(after(wanted, "A leaves"), "-");
  EXPECT_EQ(after(wanted + path{"A leaves"}, "released"), "back");
  EXPECT_EQ(after(offered + path{"B joins"}, "A leaves"), "wake B");
  EXPECT_EQ(after(offered, "A leaves"), "back");
  EXPECT_EQ(after(offered, "A leaves", true), "set timer");
}

TEST(LocalTurns, AreFreeWhenTheyAreClosed) {
  client_of_three client{.turns = local_turns{{.lease = lease}}};
  for (const auto& event : held) client.play(event);
  client.turns.close();
  EXPECT_FALSE(client.turns.is_taken());
  EXPECT_FALSE(client.turns.is_idle());
}

TEST(LocalTurns, SayWhatIsToBeDone) {
  local_turns::waiter who{true};
  EXPECT_EQ(to_string(step{}), "nothing");
  EXPECT_EQ(to_string(step{.gives_back = true, .asks = &who}), "gives back; asks");
  EXPECT_EQ(to_string(step{.minor = 3, .holds = &who, .wakes = &who}),
            "holds it with minor 3; wakes");
  EXPECT_EQ(to_string(step{.sets_timer = true}), "sets the timer");
}

}  // namespace
}  // namespace holdfast::leasing
