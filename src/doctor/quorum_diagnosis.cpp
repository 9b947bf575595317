#include "doctor/quorum_diagnosis.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <holdfast/errc.hpp>
#include <holdfast/quorum.hpp>

#include "base/uncancelled.hpp"
#include "doctor/clock_reading.hpp"
#include "doctor/diagnosis.hpp"
#include "lease/quorum_machine.hpp"
#include "redis/calls/ask.hpp"
#include "redis/connection/server_reply.hpp"
#include "runtime/lock_access.hpp"

namespace holdfast::doctor {
namespace {

using severity = finding::severity;

constexpr microseconds dangerous_difference = quorum_options{}.longest_lease;

std::optional<clock_reading> clock_of(const client& member) {
  return read_clock(member.url(), [&](calls::words what) {
    return calls::ask(*detail::lock_access::core(member), 0, what);
  });
}

// Empty when the user may not look: the finding "version" says so.
std::string read_run_id(const client& member) {
  const auto info = calls::ask(*detail::lock_access::core(member), 0, {"INFO", "server"});
  return redis::info_field(info.text, "run_id");
}

std::string counted(std::size_t many, const char* what) {
  return std::to_string(many) + " " + what + (many == 1 ? "" : "s");
}

class quorum_examination {
 public:
  explicit quorum_examination(const std::vector<client>& members) : members_(members) {}

  std::vector<finding> run() {
    for (const auto& member : members_) {
      if (look_at(member)) answering_.push_back(&member);
    }
    about_the_majority();
    about_their_number();
    about_their_identity();
    about_their_clocks();
    return std::move(findings_);
  }

 private:
  void report(severity level, std::string check, std::string detail, std::string remedy = {}) {
    findings_.push_back({level, std::move(check), std::move(detail), std::move(remedy)});
  }

  // Whether it can be asked at all.
  bool look_at(const client& member) {
    bool answers = true;
    for (auto& found : diagnose(member, *detail::lock_access::core(member), standing::member)) {
      found.server = member.url();
      if (found.check == "connect") {
        answers = found.level != severity::problem;  // it names the address itself
      } else {
        found.detail = member.url() + ": " + found.detail;
      }
      findings_.push_back(std::move(found));
    }
    return answers;
  }

  void about_the_majority() {
    const auto all = members_.size();
    const auto needed = leasing::majority_of(all);
    const auto said = std::to_string(answering_.size()) + " of " + counted(all, "member") +
                      (answering_.size() == 1 ? " answers; " : " answer; ") +
                      std::to_string(needed) + (needed == 1 ? " is" : " are") + " a majority";
    if (answering_.size() == all) return report(severity::ok, "majority", said);
    if (answering_.size() < needed) {
      return report(severity::problem, "majority", said,
                    "no lock can be acquired, and those that are held are lost: start the others");
    }
    const bool is_last = answering_.size() == needed;
    report(severity::warning, "majority", said,
           std::string("start the others: locks work") +
               (is_last ? ", and will not if another goes" : ""));
  }

  void about_their_number() {
    const auto all = members_.size();
    if (all == 1) {
      return report(severity::warning, "number", "a quorum of one member ends with that one",
                    "name 3 or 5 independent servers, or use one without a quorum: it can do more");
    }
    if (all % 2 == 1) return;
    report(severity::warning, "number",
           "an even number of members, " + std::to_string(all) +
               ", bears the loss of no more than " + std::to_string(all - 1) + " do",
           "add one, or take one away; all who use the quorum must name the same members");
  }

  // Independent servers have run ids of their own.
  void about_their_identity() {
    std::map<std::string, std::string> known;
    for (const auto* const member : answering_) {
      const auto run_id = answer(*member, read_run_id);
      if (run_id.empty()) continue;
      const auto [first, is_new] = known.try_emplace(run_id, member->url());
      if (is_new) continue;
      report(severity::problem, "identity",
             first->second + " and " + member->url() + " are the same server",
             "its vote would count twice: name each server once");
    }
  }

  void about_their_clocks() {
    std::vector<clock_reading> read;
    for (const auto* const member : answering_) {
      if (auto clock = answer(*member, clock_of)) read.push_back(*std::move(clock));
    }
    if (read.size() < 2) return;
    const auto found = largest_difference(read);
    if (found.is_allowed) {
      return report(severity::ok, "clocks", "the members' clocks are within " + found.in_ms());
    }
    const auto& behind = found.behind->server;
    const bool is_dangerous = found.between > dangerous_difference;
    report(is_dangerous ? severity::problem : severity::warning, "clocks",
           "the clock of " + found.ahead->server + " is " + found.in_ms() + " ahead of that of " +
               behind,
           is_dangerous
               ? "set them: if " + behind +
                     " loses its memory, it may give out tokens below those it has forgotten"
               : "let all synchronise their clocks, and slew them: one that is set forward while a "
                 "lock is held ends its vote early, by more than the hundredth that a lease allows "
                 "for");
  }

  // Nothing when it has gone since it was looked at.
  template <typename Answer>
  static Answer answer(const client& member, Answer (*get)(const client&)) {
    try {
      return get(member);
    } catch (const failure&) {
      return {};
    }
  }

  const std::vector<client>& members_;
  std::vector<const client*> answering_;
  std::vector<finding> findings_;
};

}  // namespace

std::vector<finding> diagnose_quorum(const std::vector<client>& members) {
  const uncancelled meanwhile;
  return quorum_examination(members).run();
}

}  // namespace holdfast::doctor
