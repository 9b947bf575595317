// Walks every cell of the table in acquire_machine.hpp: each situation meets each event.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lease/acquire_machine.hpp"
#include "lease/answers_for_tests.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {
namespace {

using std::chrono::seconds;

constexpr monotonic_time give_up_at = local_start + seconds(3600);

// A step in words, without its times.
std::string gist(const step& what) {
  std::vector<std::string> parts;
  if (what.learned) parts.push_back("learned");
  if (what.done) parts.push_back(what.done->code ? name_of(*what.done->code) : "held");
  if (what.send == ask::acquire) parts.push_back(what.resend ? "acquire again" : "acquire");
  if (what.send == ask::release) parts.push_back("release");
  if (what.send == ask::withdraw) parts.push_back("withdraw");
  if (what.wake_at) parts.push_back("wake");
  if (what.finished) parts.push_back("finished");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text.empty() ? "-" : text;
}

// One attempt and what happened to it.
class attempt {
 public:
  explicit attempt(bool waits)
      : machine_(new_claim(), {waits, give_up_at}, {.seed = 5}), now_(local_start) {}

  step play(std::string_view event) {
    if (event == "timer" && wake_at_) {
      now_ = *wake_at_;
    } else if (event == "patience over") {
      now_ = give_up_at;
    } else {
      now_ += milliseconds(1);
    }
    const step next = deliver(event, now_);
    if (next.send != ask::nothing) {
      sent_ = next.send;
      sent_at_ = now_;
    }
    if (next.wake_at) wake_at_ = next.wake_at;
    return next;
  }

  // The next answer is one to this.
  void answer_to(ask what) { sent_ = what; }

 private:
  step deliver(std::string_view event, monotonic_time now) {
    const outcome why{errc::unavailable, "no route"};
    if (event == "start") return machine_.start(now);
    if (event == "woken") return machine_.on_woken(now);
    if (event == "timer" || event == "early timer" || event == "patience over") {
      return machine_.on_timer(now);
    }
    if (event == "stop") return machine_.on_stop(now);
    if (event == "not sent") return machine_.on_missing(no_answer::not_sent, why, now);
    if (event == "unknown") return machine_.on_missing(no_answer::unknown, why, now);
    if (event == "unreachable") return machine_.on_missing(no_answer::unreachable, why, now);
    if (event == "no log-in") {
      return machine_.on_missing(no_answer::not_sent, {errc::authentication, ""}, now);
    }
    if (sent_ != ask::acquire) {
      return machine_.on_given_back(say_back(event, errc::permission_denied), now);
    }
    return machine_.on_acquired(answer(event), sent_at_, now);
  }

  static substrate::acquire_verdict answer(std::string_view event) {
    if (event == "granted") return say("granted", 10'000);
    if (event == "granted too late") return say("granted", 1);
    if (event == "passing") return say("passing", errc::out_of_memory);
    if (event == "refused") return say("refused", errc::permission_denied);
    return say(event);
  }

  acquire_machine machine_;
  monotonic_time now_;
  ask sent_ = ask::nothing;
  monotonic_time sent_at_{};
  std::optional<monotonic_time> wake_at_;
};

using events = std::vector<std::string_view>;

// The answers that can come while an acquire is under way or no longer expected, those that can
// come while giving back, and what can always happen.
const events to_acquire{"granted", "granted too late", "busy", "passing", "refused", "late"};
const events to_giving_back{"released", "not mine", "passing", "refused"};
const events always{"woken",    "early timer", "timer",       "patience over", "stop",
                    "not sent", "unknown",     "unreachable", "no log-in"};

struct situation {
  std::string_view name;
  bool waits;
  events path;
  const events& replies;
  std::map<std::string_view, std::string> expected;  // every event not named here: nothing
};

void check(const std::vector<situation>& table) {
  for (const situation& one : table) {
    std::size_t found = 0;
    for (const events& group : {one.replies, always}) {
      for (const std::string_view event : group) {
        attempt machine(one.waits);
        for (const std::string_view before : one.path) machine.play(before);
        machine.answer_to(&one.replies == &to_acquire ? ask::acquire : ask::withdraw);
        const auto cell = one.expected.find(event);
        found += cell != one.expected.end();
        EXPECT_EQ(gist(machine.play(event)), cell == one.expected.end() ? "-" : cell->second)
            << one.name << ": " << event;
      }
    }
    EXPECT_EQ(found, one.expected.size()) << one.name << ": an event that is never played";
  }
}

TEST(AcquireMachineTable, Asking) {
  const std::map<std::string_view, std::string> once = {{"granted", "held, finished"},
                                                        {"granted too late", "timed_out, release"},
                                                        {"busy", "busy, finished"},
                                                        {"passing", "out_of_memory, finished"},
                                                        {"refused", "permission_denied, finished"},
                                                        {"late", "learned, acquire"},
                                                        {"stop", "cancelled"},
                                                        {"not sent", "unavailable, finished"},
                                                        {"unknown", "unavailable, wake"},
                                                        {"unreachable", "unavailable, finished"},
                                                        {"no log-in", "authentication, finished"}};
  const std::map<std::string_view, std::string> waiting = {
      {"granted", "held, finished"},
      {"granted too late", "release, wake"},
      {"busy", "wake"},
      {"passing", "wake"},
      {"refused", "permission_denied, finished"},
      {"late", "learned, acquire, wake"},
      {"early timer", "wake"},
      {"timer", "timed_out"},
      {"patience over", "timed_out"},
      {"stop", "cancelled"},
      {"not sent", "wake"},
      {"unknown", "wake"},
      {"unreachable", "unavailable, finished"},
      {"no log-in", "authentication, finished"}};
  // An earlier copy may have been granted: only "busy" proves that it was not.
  std::map<std::string_view, std::string> resent = waiting;
  resent["refused"] = "permission_denied, withdraw";
  resent["late"] = "learned, acquire again, wake";
  resent["timer"] = resent["patience over"] = "unavailable";
  resent["unreachable"] = "unavailable, withdraw";
  resent["no log-in"] = "authentication, withdraw";
  check({{"asking once", false, {"start"}, to_acquire, once},
         {"asking", true, {"start"}, to_acquire, waiting},
         {"asking again", true, {"start", "unknown", "timer"}, to_acquire, resent}});
}

TEST(AcquireMachineTable, Waiting) {
  check({{"waiting",
          true,
          {"start", "busy"},
          to_acquire,
          {{"woken", "acquire, wake"},
           {"early timer", "acquire, wake"},
           {"timer", "acquire, wake"},
           {"patience over", "timed_out, finished"},
           {"stop", "cancelled, finished"}}},
         {"waiting, perhaps granted unheard",
          true,
          {"start", "unknown", "timer", "passing"},
          to_acquire,
          {{"woken", "acquire again, wake"},
           {"early timer", "acquire again, wake"},
           {"timer", "acquire again, wake"},
           {"patience over", "timed_out, withdraw"},
           {"stop", "cancelled, withdraw"}}}});
}

TEST(AcquireMachineTable, Doubting) {
  check({{"doubting",
          true,
          {"start", "unknown"},
          to_acquire,
          {{"early timer", "wake"},
           {"timer", "acquire again, wake"},
           {"patience over", "unavailable, withdraw"},
           {"stop", "cancelled, wake"}}}});
}

TEST(AcquireMachineTable, WithdrawingWithAnAcquireUnderWay) {
  check({{"withdrawing from the first copy",
          true,
          {"start", "stop"},
          to_acquire,
          {{"granted", "release"},
           {"granted too late", "release"},
           {"busy", "finished"},
           {"passing", "finished"},
           {"refused", "finished"},
           {"late", "learned, finished"},
           {"not sent", "finished"},
           {"unknown", "wake"},
           {"unreachable", "finished"},
           {"no log-in", "finished"}}},
         {"withdrawing from a resend",
          true,
          {"start", "unknown", "timer", "stop"},
          to_acquire,
          {{"granted", "release"},
           {"granted too late", "release"},
           {"busy", "finished"},
           {"passing", "withdraw"},
           {"refused", "withdraw"},
           {"late", "learned, withdraw"},
           {"not sent", "withdraw"},
           {"unknown", "wake"},
           {"unreachable", "withdraw"},
           {"no log-in", "withdraw"}}}});
}

TEST(AcquireMachineTable, WithdrawingWithNothingUnderWay) {
  check({{"before the withdraw",
          false,
          {"start", "unknown"},
          to_acquire,
          {{"granted", "release"},
           {"granted too late", "release"},
           {"busy", "finished"},
           {"passing", "withdraw"},
           {"refused", "withdraw"},
           {"late", "learned, withdraw"},
           {"early timer", "wake"},
           {"timer", "withdraw"},
           {"patience over", "withdraw"}}},
         {"before the next try of a withdraw",
          false,
          {"start", "unknown", "timer", "not sent"},
          to_acquire,
          {{"granted", "release"},
           {"granted too late", "release"},
           {"busy", "finished"},
           {"passing", "withdraw"},
           {"refused", "withdraw"},
           {"late", "learned, withdraw"},
           {"early timer", "withdraw"},
           {"timer", "withdraw"},
           {"patience over", "withdraw"}}}});
}

TEST(AcquireMachineTable, WithdrawingWithTheGivingBackUnderWay) {
  const std::map<std::string_view, std::string> told = {
      {"released", "finished"}, {"not mine", "finished"}, {"passing", "wake"},
      {"refused", "finished"},  {"not sent", "wake"},     {"unknown", "wake"},
      {"unreachable", "wake"},  {"no log-in", "wake"}};
  check({{"a withdraw", false, {"start", "unknown", "timer"}, to_giving_back, told},
         {"a release", true, {"start", "stop", "granted"}, to_giving_back, told},
         {"a release, asked once", false, {"start", "granted too late"}, to_giving_back, told}});
}

TEST(AcquireMachineTable, GivingBackAGrantThatCameTooLateWhileTheCallerWaits) {
  check({{"under way",
          true,
          {"start", "granted too late"},
          to_giving_back,
          {{"released", "wake"},
           {"not mine", "wake"},
           {"passing", "wake"},
           {"refused", "permission_denied, finished"},
           {"early timer", "wake"},
           {"timer", "timed_out"},
           {"patience over", "timed_out"},
           {"stop", "cancelled"},
           {"not sent", "wake"},
           {"unknown", "wake"},
           {"unreachable", "wake"},
           {"no log-in", "wake"}}},
         {"before the next try",
          true,
          {"start", "granted too late", "not sent"},
          to_acquire,
          {{"granted", "release, wake"},
           {"granted too late", "release, wake"},
           {"busy", "wake"},
           {"passing", "release, wake"},
           {"refused", "release, wake"},
           {"late", "learned, release, wake"},
           {"early timer", "release, wake"},
           {"timer", "release, wake"},
           {"patience over", "timed_out, release"},
           {"stop", "cancelled, release"}}},
         {"afterwards",
          true,
          {"start", "granted too late", "released"},
          to_acquire,
          {{"woken", "acquire, wake"},
           {"early timer", "acquire, wake"},
           {"timer", "acquire, wake"},
           {"patience over", "timed_out, finished"},
           {"stop", "cancelled, finished"}}}});
}

TEST(AcquireMachineTable, NothingHappensWhenDone) {
  check({{"held", true, {"start", "granted"}, to_acquire, {}},
         {"busy", false, {"start", "busy"}, to_acquire, {}},
         {"refused", true, {"start", "refused"}, to_acquire, {}},
         {"stopped while waiting", true, {"start", "busy", "stop"}, to_acquire, {}},
         {"withdrawn", false, {"start", "unknown", "timer", "not mine"}, to_acquire, {}}});
}

}  // namespace
}  // namespace holdfast::leasing
