#include "doctor/replica_check.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/number.hpp"
#include "base/printable.hpp"
#include "net/clock.hpp"
#include "redis/calls/ask.hpp"
#include "redis/connection/exchange.hpp"
#include "redis/connection/server_reply.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::doctor {
namespace {

using redis::info_field;
using severity = finding::severity;

std::int64_t number(std::string_view text) { return parse_number<std::int64_t>(text).value_or(0); }

// A field of "ip=127.0.0.1,port=7001,state=online,offset=123,lag=0".
std::string field_of(const std::string& line, std::string_view name) {
  std::string fields = "," + line + ",";
  const auto at = fields.find("," + std::string(name) + "=");
  if (at == std::string::npos) return {};
  const auto begin = at + name.size() + 2;
  return fields.substr(begin, fields.find(',', begin) - begin);
}

// The settings min-replicas-to-write and min-replicas-max-lag of a master. Nothing where the user
// may not look.
struct replica_guard {
  std::optional<std::string> needed;
  std::optional<std::string> longest_lag;

  bool may_be_looked_at() const { return needed && longest_lag; }
  bool is_off() const { return needed == "0" || (needed && longest_lag == "0"); }
};

// A replica says every second how far it is. One that has not for so long is not counted on by its
// master either, where that guard is on with the usual setting.
constexpr std::int64_t usual_longest_lag = 10;

// Reached as its master is, with the same login.
class replica_connection {
 public:
  replica_connection(const redis::session_settings& of_master, const net::tcp_endpoint& where)
      : patience_(of_master.response_timeout) {
    auto settings = of_master;
    settings.where = where;
    settings.sentinels.reset();
    settings.seeds.clear();
    settings.asks_slots = false;
    settings.scripts.clear();
    settings.channel.clear();
    redis::session_facts facts;
    if (auto broken = redis::open_session(settings, nullptr, link_, facts)) {
      problem_ = std::move(broken->detail);
    }
  }

  // Empty: it can be asked.
  const std::string& problem() const noexcept { return problem_; }

  resp::value ask(calls::words what) {
    // An answer that comes late would be taken for the next one's.
    if (!problem_.empty()) return calls::no_answer(problem_);
    const net::connect_limits limits{net::now() + patience_, patience_, nullptr};
    redis::exchange talk(link_, limits);
    talk.ask(what);
    if (auto broken = talk.run()) {
      problem_ = std::move(broken->detail);
      return calls::no_answer(problem_);
    }
    return std::move(talk.reply(0));
  }

 private:
  const milliseconds patience_;
  redis::link link_;
  std::string problem_;
};

class replica_examination {
 public:
  replica_examination(runtime::client_core& core, const replica_search& search,
                      std::vector<finding>& into, std::vector<clock_reading>& clocks)
      : core_(core), search_(search), findings_(into), clocks_(clocks) {}

  void run() {
    const auto info = calls::ask(core_, search_.slot, {"INFO", "replication"});
    if (info.is(resp::type::error)) return;  // said under "version" already
    guard_ = {setting("min-replicas-to-write"), setting("min-replicas-max-lag")};
    constexpr int most = 100;  // each is connected to: a server may claim any number
    for (int i = 0; i < most; ++i) {
      const auto line = info_field(info.text, "slave" + std::to_string(i));
      if (line.empty()) break;
      about_one(line, number(info_field(info.text, "master_repl_offset")));
    }
    about_those_that_are_missing();
    if (connected_.empty()) return about_none();
    about_waiting_for_them();
  }

 private:
  void report(severity level, std::string check, std::string detail, std::string remedy = {}) {
    findings_.push_back({level, std::move(check), std::move(detail), std::move(remedy)});
  }

  std::optional<std::string> setting(std::string_view name) {
    return redis::read_setting(calls::ask(core_, search_.slot, {"CONFIG", "GET", name}));
  }

  // In seconds. A shorter one of the master's own counts; a longer one makes nothing safer.
  std::int64_t longest_lag() const {
    const auto own = number(guard_.longest_lag.value_or("0"));
    return own == 0 ? usual_longest_lag : std::min(own, usual_longest_lag);
  }

  void about_one(const std::string& line, std::int64_t written) {
    const net::tcp_endpoint at{field_of(line, "ip"),
                               parse_number<std::uint16_t>(field_of(line, "port")).value_or(0)};
    const auto where = at.host + ":" + field_of(line, "port");
    connected_.push_back(where);
    const bool online = field_of(line, "state") == "online";
    const auto lag = field_of(line, "lag");
    const bool is_late = number(lag) > longest_lag();
    const auto behind = std::to_string(written - number(field_of(line, "offset")));
    report(
        online && !is_late ? severity::ok : severity::warning, "replica",
        where + ", " + field_of(line, "state") + ", " + behind + " bytes behind, lag " + lag + " s",
        why_not_safe(online, is_late));
    if (online) look_at(where, at);
  }

  std::string why_not_safe(bool online, bool is_late) const {
    if (!online) return "a failover to it would lose what it has not received";
    if (!is_late) return {};
    return "it has said nothing for more than " + std::to_string(longest_lag()) +
           " s, and a failover to it would lose what it has not received: see whether it hangs, "
           "is overloaded, or is cut off";
  }

  // Reports only problems of a replica.
  void look_at(const std::string& where, const net::tcp_endpoint& at) {
    replica_connection replica(redis_locks::engine_of(core_).connection(search_.slot).settings(),
                               at);
    if (!replica.problem().empty()) {
      return report(severity::warning, "replica",
                    where + ": cannot look at it: " + replica.problem(),
                    "it may be the next master: let it be reached by the same address and login");
    }
    const asking asks = [&](calls::words what) { return replica.ask(what); };
    for (auto& found : examine_replica(asks, search_.as)) {
      if (found.level == severity::ok) continue;
      // Of a server that stands alone, none takes over by itself.
      if (search_.without == severity::ok) found.level = severity::warning;
      found.detail = "replica " + where + ": " + found.detail;
      findings_.push_back(std::move(found));
    }
    if (auto clock = read_clock(where, asks)) clocks_.push_back(*std::move(clock));
  }

  // The sentinels and the master may call one replica by two addresses. Then only the number that
  // is missing is known.
  void about_those_that_are_missing() {
    if (connected_.size() >= search_.known.size()) return;
    const auto missing = search_.known.size() - connected_.size();
    const auto is_strange = [this](const known_replica& one) { return !is_connected(one); };
    const auto strange = std::ranges::count_if(search_.known, is_strange);
    if (static_cast<std::size_t>(strange) > missing) {
      return report(severity::warning, "replica",
                    std::to_string(missing) + " of the " + std::to_string(search_.known.size()) +
                        " that are known " + (missing == 1 ? "is" : "are") +
                        " not connected to the master",
                    "start the replicas that are down, and remove those that are gone for good "
                    "(SENTINEL RESET, CLUSTER FORGET)");
    }
    for (const auto& one : search_.known) {
      if (is_connected(one)) continue;
      report(severity::warning, "replica",
             printable(one.where) + ", one of " + std::to_string(search_.known.size()) +
                 " that are known, is not connected to the master (" + printable(one.flags) + ")",
             "start it, or remove it if it is gone for good (SENTINEL RESET, CLUSTER "
             "FORGET)");
    }
  }

  bool is_connected(const known_replica& one) const {
    return std::ranges::find(connected_, one.where) != connected_.end();
  }

  void about_none() {
    if (search_.without == severity::ok) return;
    report(search_.without, "replica", "the master has no replica",
           "there is nobody to fail over to: start one");
  }

  void about_waiting_for_them() {
    if (!guard_.may_be_looked_at()) {
      report(severity::ok, "min-replicas-to-write", "could not look (needs +config|get)");
    }
    if (!guard_.is_off()) return;
    const bool by_lag = guard_.needed != "0";
    report(severity::warning, "min-replicas-to-write",
           by_lag ? *guard_.needed + ", but min-replicas-max-lag is 0, which switches it off" : "0",
           "a master that is cut off from all others goes on granting locks that a "
           "failover forgets; set 1, and a small min-replicas-max-lag" +
               std::string(by_lag ? " that is not 0" : ""));
  }

  runtime::client_core& core_;
  const replica_search& search_;
  std::vector<finding>& findings_;
  std::vector<clock_reading>& clocks_;
  std::vector<std::string> connected_;
  replica_guard guard_;
};

}  // namespace

void examine_replicas(runtime::client_core& core, const replica_search& search,
                      std::vector<finding>& into, std::vector<clock_reading>& clocks) {
  replica_examination(core, search, into, clocks).run();
}

}  // namespace holdfast::doctor
