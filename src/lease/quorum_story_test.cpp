// The steps of a quorum's machines: quorum_stories.txt. After a change that is meant,
// HOLDFAST_WRITE_STORIES=1 writes it anew: read the differences.
//
//   == A title
//   machine 3 once             3 members; once, or for how many ms it waits; then any of
//                              `silent <member>`, `deaf`, `asks <ms>`
//   start | hint | timer | stop
//   vote 0 granted 101         what a member answers: also busy [ms], blank, out <ms>, late,
//   before,
//                              refused <passing|final> <skew|no-right>; `@5`: asked 5 ms from start
//   agree 0 renewed            also not-mine, late, refused
//   missing 0 unknown          also not-sent, unreachable
//   hold 12000 9000 9000 -     a held lock, its lease and until when each member votes
//   kept 0 12000 | kept 0 not-mine | kept 0 refused | lost-answer 0 | extend 20000 | let-go
//   release 3 1000 5000 0 1 2? votes that are given back: of 3 members, late from and until when,
//   of
//                              whom; with a `?` the question for the vote may arrive yet
//   released 0 did             also not-mine, refused
//   at 500                     500 ms from the start; `at 500.1` a nanosecond later
//
// Lines that are indented are what the machine said.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "lease/quorum_lease.hpp"
#include "lease/quorum_machine.hpp"
#include "substrate/verdict.hpp"
#include "substrate/vote.hpp"

namespace holdfast::leasing {
namespace {

constexpr monotonic_time begin{std::chrono::hours(1)};
const std::vector<std::string> names{"a", "b", "c", "d", "e"};
using words = std::vector<std::string>;

milliseconds in_ms(const std::string& text) { return milliseconds(std::stoll(text)); }

// `+12.345678` from a time in ns.
std::string since_begin(long long nanos) {
  if (nanos == monotonic_time::min().time_since_epoch().count()) return "none";
  const long long behind = nanos - begin.time_since_epoch().count();
  std::string digits = std::to_string(std::abs(behind) % 1'000'000);
  digits.insert(0, 6 - digits.size(), '0');
  return (behind < 0 ? "-" : "+") + std::to_string(std::abs(behind) / 1'000'000) + "." + digits;
}

class story {
 public:
  std::string tell(const std::string& text) {
    std::string told;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  ")) continue;
      told += line + '\n';
      if (line.empty() || line[0] == '=' || line[0] == '#') continue;
      std::istringstream parts(line);
      const words said{std::istream_iterator<std::string>(parts), {}};
      const auto answer = step(said);
      if (!answer.empty()) told += "  " + answer + '\n';
    }
    return told;
  }

 private:
  std::string step(const words& said) {
    const auto& what = said.at(0);
    if (what == "at") return now_ = time(said.at(1)), std::string{};
    if (what == "machine") return make(said), std::string{};
    if (what == "hold") return make_hold(said);
    if (what == "release") return make_release(said);
    if (release_) return on_release(said);
    return hold_ ? on_hold(said) : on_machine(said);
  }

  static monotonic_time time(const std::string& text) {
    const auto dot = text.find('.');
    const auto more = dot == text.npos ? 0 : std::stoll(text.substr(dot + 1));
    return begin + in_ms(text.substr(0, dot)) + nanoseconds(more);
  }

  void make(const words& said) {
    hold_.reset();
    release_.reset();
    now_ = begin;
    patience how_long{};
    if (said.at(2) != "once") how_long = {.waits = true, .give_up_at = begin + in_ms(said[2])};
    quorum_machine::settings with{.names = std::span(names).first(std::stoul(said.at(1))),
                                  .lease = milliseconds(10'000),
                                  .member_timeout = milliseconds(500)};
    std::optional<std::size_t> silent;
    for (std::size_t i = 3; i < said.size(); ++i) {
      if (said[i] == "deaf") with.hears = false;
      if (said[i] == "asks") with.asks_after = pauses{in_ms(said.at(i + 1)), in_ms(said[i + 1])};
      if (said[i] == "silent") silent = std::stoul(said.at(i + 1));
    }
    machine_.emplace(how_long, with);
    if (silent) machine_->mark_silent(*silent);
  }

  std::string on_machine(const words& said) {
    const auto& what = said.at(0);
    auto& machine = *machine_;
    if (what == "start") return shown(machine.start(now_));
    if (what == "hint") return shown(machine.on_hint(now_));
    if (what == "timer") return shown(machine.on_timer(now_));
    if (what == "stop") return shown(machine.on_stop(now_));
    const auto member = std::stoul(said.at(1));
    auto attempt = machine.attempt();
    auto sent_at = begin;
    for (const auto& word : said) {
      if (word == "old") --attempt;
      if (word[0] == '@') sent_at = time(word.substr(1));
    }
    if (what == "vote") return shown(machine.on_vote(attempt, member, vote(said), sent_at, now_));
    if (what == "agree") return shown(machine.on_agreed(attempt, member, renewal(said), now_));
    return shown(machine.on_missing(attempt, member, how(said), "no answer", now_));
  }

  static substrate::refused refusal(const words& said) {
    const bool passes = said.size() < 4 || said[3] == "passing";
    const auto code =
        said.size() > 4 && said[4] == "no-right" ? errc::permission_denied : errc::clock_skew;
    return {.code = code, .passing = passes, .detail = "it says no"};
  }
  static substrate::vote vote(const words& said) {
    const auto& what = said.at(2);
    if (what == "granted") {
      return substrate::granted{std::stoull(said.at(3)), milliseconds(10'000)};
    }
    if (what == "busy" && said.size() == 3) return substrate::busy{};
    if (what == "busy") return substrate::busy{in_ms(said[3])};
    if (what == "blank") return substrate::without_memory{};
    if (what == "out") return substrate::staying_out{in_ms(said.at(3))};
    if (what == "late") return substrate::late{};
    if (what == "before") return substrate::voted_before{};
    return refusal(said);
  }
  static substrate::renew_verdict renewal(const words& said) {
    const auto& what = said.at(2);
    if (what == "not-mine") return substrate::not_mine{};
    if (what == "late") return substrate::late{};
    if (what == "refused") return refusal(said);
    return substrate::renewed{what == "renewed" ? milliseconds(10'000) : in_ms(what)};
  }
  static no_answer how(const words& said) {
    return said.at(2) == "unknown"    ? no_answer::unknown
           : said.at(2) == "not-sent" ? no_answer::not_sent
                                      : no_answer::unreachable;
  }

  std::string make_hold(const words& said) {
    release_.reset();
    now_ = begin;
    std::vector<monotonic_time> deadlines;
    for (std::size_t i = 2; i < said.size(); ++i) {
      deadlines.push_back(said[i] == "-" ? monotonic_time::min() : time(said[i]));
    }
    hold_.emplace(quorum_lease_machine::settings{.lease = in_ms(said.at(1))},
                  quorum_outcome{.deadlines = std::move(deadlines), .asked_at = begin});
    return shown(hold_->start());
  }
  std::string on_hold(const words& said) {
    const auto& what = said.at(0);
    if (what == "let-go") return hold_->on_released(), shown(quorum_lease_step{});
    if (what == "timer") return shown(hold_->on_timer(now_));
    if (what == "extend") return shown(hold_->extend(in_ms(said.at(1)), now_));
    const auto member = std::stoul(said.at(1));
    if (what == "lost-answer") return shown(hold_->on_missing(member, now_));
    const auto sent_at = said.size() > 3 ? time(said[3].substr(1)) : now_;
    return shown(hold_->on_kept(member, renewal(said), sent_at, now_));
  }

  std::string make_release(const words& said) {
    now_ = begin;
    quorum_release_machine::scope votes{.until = time(said.at(3))};
    for (std::size_t i = 4; i < said.size(); ++i) {
      votes.at.push_back(std::stoul(said[i]));
      if (said[i].ends_with('?')) votes.in_doubt.push_back(votes.at.back());
    }
    release_.emplace(votes, std::stoul(said.at(1)), time(said.at(2)), 0);
    return shown(release_->start());
  }
  std::string on_release(const words& said) {
    const auto& what = said.at(0);
    if (what == "timer") return shown(release_->on_timer(now_));
    const auto member = std::stoul(said.at(1));
    if (what == "missing") return shown(release_->on_missing(member, how(said), now_));
    substrate::release_verdict verdict = substrate::released{};
    if (said.at(2) == "not-mine") verdict = substrate::not_mine{};
    if (said.at(2) == "refused") verdict = refusal(said);
    return shown(release_->on_released(member, verdict, now_));
  }

  std::string shown(const quorum_step& next) const {
    auto text = readable(to_string(next));
    if (machine_->is_waiting()) text += "; waiting";
    if (!next.done || next.done->code) return text;
    text += ", token " + std::to_string(machine_->token()) + ", until";
    for (const auto each : next.done->deadlines) {
      text += ' ' + since_begin(each.time_since_epoch().count());
    }
    for (const auto member : next.done->in_doubt) text += ", in doubt " + std::to_string(member);
    return text;
  }
  std::string shown(const quorum_lease_step& next) const {
    return readable(to_string(next)) + "; " + (hold_->held(now_) ? "held" : "not held") +
           " until " + since_begin(hold_->deadline().time_since_epoch().count()) + ", renewed " +
           std::to_string(hold_->renewed()) + ", unanswered " + std::to_string(hold_->unanswered());
  }
  static std::string shown(const quorum_release_step& next) { return readable(to_string(next)); }

  static std::string readable(const std::string& text) {
    static const std::regex nanos(R"((\d{13,}) ns)");
    std::string result;
    auto rest = text.cbegin();
    for (std::smatch found; std::regex_search(rest, text.cend(), found, nanos);
         rest = found[0].second) {
      result.append(rest, found[0].first);
      result += since_begin(std::stoll(found.str(1)));
    }
    return result.append(rest, text.cend());
  }

  std::optional<quorum_machine> machine_;
  std::optional<quorum_lease_machine> hold_;
  std::optional<quorum_release_machine> release_;
  monotonic_time now_ = begin;
};

TEST(QuorumStories, AreToldAgain) {
  std::ifstream file(HOLDFAST_QUORUM_STORIES);
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(written.empty());
  const auto told = story{}.tell(written);
  if (std::getenv("HOLDFAST_WRITE_STORIES") != nullptr) {
    std::ofstream(HOLDFAST_QUORUM_STORIES) << told;
  } else {
    EXPECT_EQ(told, written);
  }
}

}  // namespace
}  // namespace holdfast::leasing
