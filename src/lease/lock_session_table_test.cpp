// Every row of the tables in lock_session.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lease/answers_for_tests.hpp"
#include "lease/lock_session.hpp"
#include "lease/session_states_for_tests.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {
namespace {

using std::chrono::seconds;
using events = std::vector<std::string_view>;

// One request and its events, a millisecond after each other.
class request {
 public:
  explicit request(bool needs_replicas)
      : session_(claim_, {.waits = true, .give_up_at = monotonic_time::max()},
                 {.needs_replicas = needs_replicas}) {}

  effects play(std::string_view event) {
    now_ += milliseconds(1);
    const outcome unknown{errc::unavailable, "cut"};
    if (event == "begin") return session_.begin(now_);
    if (event == "granted") return session_.on_acquired(say("granted", 10'000), now_, now_);
    if (event == "refused") {
      return session_.on_acquired(say("refused", errc::permission_denied), now_, now_);
    }
    if (event == "unanswered") return session_.on_missing(no_answer::unknown, unknown, now_);
    if (event == "given back") return session_.on_given_back(say_back("released"), now_);
    if (event == "refused for good") {
      return session_.on_given_back(say_back("refused", errc::permission_denied), now_);
    }
    if (event == "too late") {
      now_ += seconds(15);
      return session_.on_missing(no_answer::unknown, unknown, now_);
    }
    if (event == "stop") return session_.on_stop(now_);
    if (event == "abandon") return session_.abandon(now_);
    if (event == "enough") return session_.on_replicated({}, now_);
    if (event == "too few") return session_.on_replicated(unknown, now_);
    if (event == "not mine") return session_.on_renewed(substrate::not_mine{}, now_, false, now_);
    if (event == "replaced") return session_.on_replaced();
    if (event == "release") return session_.release(now_);
    ADD_FAILURE() << "no such event: " << event;
    return {};
  }

  std::string_view state_now() const { return name_of(session_.present_state()); }
  const lock_session& session() const { return session_; }

 private:
  substrate::claim claim_ = test_claim();
  lock_session session_;
  monotonic_time now_ = local_start;
};

const events every_event{
    "begin", "granted", "refused", "unanswered", "given back", "refused for good", "too late",
    "stop",  "abandon", "enough",  "too few",    "not mine",   "replaced",         "release"};

struct row {
  std::string_view from;
  events path;
  bool needs_replicas;
  std::map<std::string_view, std::string_view> to;  // every event not named here: the same state
};

// "too late" is the answer that never came, when the lease has ended.
const std::vector<row> table{
    {"idle", {}, false, {{"begin", "asking"}, {"stop", "stopped"}, {"abandon", "over"}}},
    {"stopped", {"stop"}, false, {{"begin", "over"}, {"abandon", "over"}}},
    {"asking",
     {"begin"},
     false,
     {{"granted", "held"}, {"refused", "over"}, {"stop", "leaving"}, {"abandon", "leaving"}}},
    {"asking",
     {"begin"},
     true,
     {{"granted", "confirming"}, {"refused", "over"}, {"stop", "leaving"}, {"abandon", "leaving"}}},
    {"leaving", {"begin", "stop"}, false, {{"refused", "over"}}},
    {"leaving",
     {"begin", "stop", "granted"},
     false,
     {{"given back", "over"}, {"refused for good", "over"}, {"too late", "over"}}},
    {"confirming",
     {"begin", "granted"},
     true,
     {{"enough", "held"},
      {"too few", "taken_back"},
      {"stop", "taken_back"},
      {"abandon", "taken_back"},
      {"release", "returning"}}},
    {"confirming",
     {"begin", "granted", "not mine"},
     true,
     {{"enough", "lost"},
      {"too few", "taken_back"},
      {"stop", "taken_back"},
      {"abandon", "taken_back"},
      {"release", "returned"}}},
    {"held",
     {"begin", "granted"},
     false,
     {{"abandon", "taken_back"},
      {"not mine", "lost"},
      {"replaced", "replaced"},
      {"release", "returning"}}},
    {"lost",
     {"begin", "granted", "not mine"},
     false,
     {{"abandon", "taken_back"}, {"release", "returned"}}},
    {"replaced", {"begin", "granted", "replaced"}, false, {}},
    {"returning",
     {"begin", "granted", "release"},
     false,
     {{"given back", "over"}, {"refused for good", "over"}, {"too late", "returned"}}},
    {"returned",
     {"begin", "granted", "not mine", "release"},
     false,
     {{"given back", "over"}, {"refused for good", "over"}}},
    {"taken_back",
     {"begin", "granted", "abandon"},
     false,
     {{"given back", "over"}, {"refused for good", "over"}}},
    {"over", {"begin", "refused"}, false, {}},
    {"over", {"begin", "granted", "release", "given back"}, false, {}},
};

// The answers to the driver's questions, in the states of the table.
const std::map<std::string_view, std::string_view> answers{
    {"idle", ""},
    {"stopped", ""},
    {"asking", "under way, may hear of its grant, asking"},
    {"leaving", "told, under way, may hear of its grant"},
    {"confirming", "under way, may hear of its grant"},
    {"held", "told, may hear of its grant"},
    {"lost", "told, may hear of its grant"},
    {"replaced", "told"},
    {"returning", "told, under way"},
    {"returned", "told, released, under way"},
    {"taken_back", "told, under way"},
    {"over", "told, released"},
};

std::string answers_of(const lock_session& session) {
  std::string text;
  const auto say = [&](bool is_so, const std::string& words) {
    if (is_so) text += (text.empty() ? "" : ", ") + words;
  };
  say(session.is_told(), "told");
  say(session.is_released(), "released");
  say(session.is_under_way(), "under way");
  say(session.may_hear_of_its_grant(), "may hear of its grant");
  say(session.is_asking(), "asking");
  say(session.hears_messages(), "hears messages");
  say(session.is_polling(), "polling");
  say(session.is_unclear(), "unclear");
  return text;
}

void play_all(request& who, const events& path) {
  for (const auto event : path) who.play(event);
}

TEST(LockSessionTable, EveryStateIsReachedAndLeftAsItsRowSays) {
  for (const auto& one : table) {
    for (const auto event : every_event) {
      request who{one.needs_replicas};
      play_all(who, one.path);
      ASSERT_EQ(who.state_now(), one.from);
      who.play(event);
      const auto cell = one.to.find(event);
      EXPECT_EQ(who.state_now(), cell == one.to.end() ? one.from : cell->second)
          << one.from << ": " << event;
    }
  }
}

TEST(LockSessionTable, HasARowForEveryState) {
  for (const auto name : all_states) {
    EXPECT_TRUE(std::any_of(table.begin(), table.end(), [&](auto& row) {
      return row.from == name;
    })) << name;
  }
}

TEST(LockSessionTable, TellsItsDriverInEachStateWhatIsToCome) {
  for (const auto& one : table) {
    request who{one.needs_replicas};
    play_all(who, one.path);
    EXPECT_EQ(answers_of(who.session()), answers.at(one.from)) << one.from;
  }
}

// A session that has ended asks for nothing more. One that is under way always has an event to
// come.
TEST(LockSessionTable, NothingFollowsTheEnd) {
  for (const auto& one : table) {
    if (one.from != "over" && one.from != "replaced") continue;
    for (const auto event : every_event) {
      request who{one.needs_replicas};
      play_all(who, one.path);
      EXPECT_EQ(who.play(event), effects{}) << one.from << ": " << event;
      EXPECT_FALSE(who.session().is_under_way());
      EXPECT_FALSE(who.session().delays_closing());
    }
  }
}

TEST(LockSessionTable, NoCallerIsToldTwice) {
  for (const auto& one : table) {
    request who{one.needs_replicas};
    int told = 0;
    for (const auto event : one.path) told += who.play(event).ended ? 1 : 0;
    const bool is_released =
        std::find(one.path.begin(), one.path.end(), "release") != one.path.end();
    EXPECT_LE(told, is_released ? 2 : 1) << one.from;
  }
}

}  // namespace
}  // namespace holdfast::leasing
