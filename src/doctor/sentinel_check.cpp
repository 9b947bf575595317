#include "doctor/sentinel_check.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/number.hpp"
#include "base/printable.hpp"
#include "doctor/encryption_check.hpp"
#include "net/clock.hpp"
#include "redis/connection/exchange.hpp"

namespace holdfast::doctor {
namespace {

using severity = finding::severity;

struct asked_sentinel {
  net::endpoint where;
  redis::sentinel_report report;

  bool answers() const { return !std::holds_alternative<redis::breakdown>(report.said); }

  // Empty: none.
  std::string master() const {
    const auto* const named = std::get_if<redis::named_master>(&report.said);
    return named == nullptr ? std::string{} : net::to_string(net::endpoint{named->where});
  }
};

// Empty: none is named. Of several the one that was named first.
std::string most_named(const std::vector<asked_sentinel>& all) {
  std::map<std::string, int> votes;
  for (const auto& one : all) ++votes[one.master()];
  std::string most;
  for (const auto& one : all) {
    const auto master = one.master();
    if (!master.empty() && (most.empty() || votes[master] > votes[most])) most = master;
  }
  return most;
}

finding describe(const asked_sentinel& one, const std::string& service, const std::string& most) {
  const auto name = net::to_string(one.where) + ": ";
  if (const auto* const broken = std::get_if<redis::breakdown>(&one.report.said)) {
    return {severity::warning, "sentinel", name + broken->detail,
            "start it, or take it out of the URL"};
  }
  const auto master = one.master();
  if (master.empty()) {
    return {severity::problem, "sentinel", name + "it does not know \"" + service + "\"",
            "let it monitor this service, or take it out of the URL"};
  }
  const bool agrees = master == most;
  return {agrees ? severity::ok : severity::problem, "sentinel",
          name + "the master of \"" + service + "\" is " + master,
          agrees ? ""
                 : "the sentinels disagree: a failover is under way, or one is cut off from the "
                   "others, or has been started with an old configuration"};
}

// How many sentinels there are, as one of them knows, and how many of them must find the master
// dead before it may be replaced.
struct quorum_view {
  int quorum = 0;
  int known = 0;

  auto operator<=>(const quorum_view&) const = default;
};

// Nothing when we may not ask for that.
std::optional<quorum_view> quorum_seen_by(const asked_sentinel& one) {
  const auto& said = one.report.described;
  const auto quorum = parse_number<int>(redis::field_of(said, "quorum"));
  const auto others = parse_number<int>(redis::field_of(said, "num-other-sentinels"));
  if (!quorum || !others) return std::nullopt;
  return quorum_view{*quorum, *others + 1};
}

finding describe(const quorum_view& seen, const std::string& by, const std::string& service) {
  const auto said = by + ": quorum " + std::to_string(seen.quorum) + " of " +
                    std::to_string(seen.known) + " known " +
                    (seen.known == 1 ? "sentinel" : "sentinels");
  const auto set = [&](const char* quorum) {
    return "SENTINEL SET " + service + " quorum " + quorum + ", at each of them";
  };
  if (seen.quorum > seen.known) {
    return {severity::warning, "sentinel quorum", said,
            "so many sentinels can never agree that a master is dead, and it is not replaced: "
            "start the others where they find each other, or " +
                set("2")};
  }
  if (seen.quorum > 1) return {severity::ok, "sentinel quorum", said, ""};
  return {severity::warning, "sentinel quorum", said,
          "one sentinel that is slow, or cut off from a living master, can have it replaced; while "
          "there are two masters a lock may have two holders: have three sentinels at least, and " +
              set("2")};
}

// Sentinels that say the same share one finding.
void examine_quorums(const std::vector<asked_sentinel>& all, const std::string& service,
                     std::vector<finding>& into) {
  std::map<quorum_view, std::string> seen;
  std::string refusing;
  for (const auto& one : all) {
    if (one.master().empty()) continue;
    const auto view = quorum_seen_by(one);
    auto& names = view ? seen[*view] : refusing;
    names += (names.empty() ? "" : ", ") + net::to_string(one.where);
  }
  for (const auto& [view, names] : seen) into.push_back(describe(view, names, service));
  if (refusing.empty()) return;
  into.push_back({severity::ok, "sentinel quorum",
                  refusing + ": could not look (needs +sentinel|master at sentinels)", ""});
}

// Most of all that there are must agree on a failover. Some may not be in the URL: of those it is
// hoped that they answer.
void examine_number(const std::vector<asked_sentinel>& all, std::vector<finding>& into) {
  const auto answering =
      static_cast<std::size_t>(std::ranges::count_if(all, &asked_sentinel::answers));
  const auto silent = all.size() - answering;
  auto known = all.size();
  for (const auto& one : all) {
    if (const auto view = quorum_seen_by(one)) {
      known = std::max(known, static_cast<std::size_t>(view->known));
    }
  }
  const auto said = "only " + std::to_string(answering) + " of them answered";
  if (2 * (known - silent) <= known) {
    into.push_back(
        {severity::problem, "sentinel", said,
         "more than half of all must agree on a failover: nobody replaces a master that dies "
         "now. Start the others, or take those that are gone out of the URL (and SENTINEL RESET "
         "the service at the rest)"});
  } else if (answering < 3) {
    into.push_back({severity::warning, "sentinel", said,
                    "with fewer than three, nobody is left to agree on a failover when one dies"});
  }
}

// How the bytes to them are secured. Sentinels with the same state share one finding.
void examine_ways(const std::vector<asked_sentinel>& all, const std::optional<tls_options>& wanted,
                  std::vector<finding>& into) {
  std::set<std::string> said;
  for (const auto& one : all) {
    if (!one.answers()) continue;
    auto found = examine_encryption(one.where, wanted, one.report.tls);
    found.detail = "sentinels: " + found.detail;
    if (said.insert(found.detail).second) into.push_back(std::move(found));
  }
}

}  // namespace

std::optional<net::endpoint> examine_sentinels(const redis::sentinel_group& group,
                                               milliseconds patience, std::vector<finding>& into) {
  std::vector<asked_sentinel> all;
  for (const auto& member : group.members) {
    const net::connect_limits limits{net::now() + patience, patience, nullptr};
    all.push_back({member, redis::question_sentinel(member, group, limits)});
  }
  const auto service = printable(group.service);
  const auto most = most_named(all);
  std::optional<net::endpoint> found;
  for (const auto& one : all) {
    into.push_back(describe(one, service, most));
    if (!found && !most.empty() && one.master() == most) found = one.where;
  }
  examine_number(all, into);
  examine_quorums(all, service, into);
  examine_ways(all, group.tls, into);
  return found;
}

std::vector<known_replica> replicas_known_to(const net::endpoint& sentinel,
                                             const redis::sentinel_group& group,
                                             milliseconds patience, std::vector<finding>& into) {
  const net::connect_limits limits{net::now() + patience, patience, nullptr};
  redis::link over;
  redis::session_facts facts;
  if (redis::reach_sentinel(sentinel, group, limits, over, facts)) return {};
  redis::exchange talk(over, limits);
  talk.ask({"SENTINEL", "REPLICAS", group.service});
  if (talk.run()) return {};
  if (talk.reply(0).is(resp::type::error)) {
    into.push_back({severity::ok, "replica",
                    "could not look which are missing (needs +sentinel|replicas at sentinels)",
                    ""});
  }
  std::vector<known_replica> all;
  for (const auto& one : talk.reply(0).items) {
    all.push_back({redis::field_of(one, "ip") + ":" + redis::field_of(one, "port"),
                   redis::field_of(one, "flags")});
  }
  return all;
}

}  // namespace holdfast::doctor
