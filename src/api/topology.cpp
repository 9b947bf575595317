#include "api/topology.hpp"

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "api/ask.hpp"
#include "base/printable.hpp"
#include "net/clock.hpp"
#include "redis/sentinel.hpp"
#include "redis/server_reply.hpp"

namespace holdfast::api {
namespace {

using redis::info_field;
using severity = finding::severity;

long long number(std::string_view text) {
  long long value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// A field of "ip=127.0.0.1,port=7001,state=online,offset=123,lag=0".
std::string field_of(const std::string& line, std::string_view name) {
  std::string fields = "," + line + ",";
  const auto at = fields.find("," + std::string(name) + "=");
  if (at == std::string::npos) return {};
  const auto begin = at + name.size() + 2;
  return fields.substr(begin, fields.find(',', begin) - begin);
}

// `without`: how bad it is to have none.
void examine_replicas(runtime::client_core& core, std::uint16_t slot, severity without,
                      std::vector<finding>& into) {
  const auto info = ask(core, slot, {"INFO", "replication"});
  if (info.is(resp::type::error)) return;  // said under "version" already
  const auto written = number(info_field(info.text, "master_repl_offset"));
  int replicas = 0;
  for (;; ++replicas) {
    const auto line = info_field(info.text, "slave" + std::to_string(replicas));
    if (line.empty()) break;
    const bool online = field_of(line, "state") == "online";
    const auto behind = std::to_string(written - number(field_of(line, "offset")));
    into.push_back({online ? severity::ok : severity::warning, "replica",
                    field_of(line, "ip") + ":" + field_of(line, "port") + ", " +
                        field_of(line, "state") + ", " + behind + " bytes behind",
                    online ? "" : "a failover to it would lose what it has not received"});
  }
  if (replicas == 0 && without != severity::ok) {
    into.push_back({without, "replica", "the master has no replica",
                    "there is nobody to fail over to: start one"});
  }
  if (replicas == 0) return;
  const auto needed =
      redis::read_setting(ask(core, slot, {"CONFIG", "GET", "min-replicas-to-write"}));
  if (!needed) {
    into.push_back(
        {severity::ok, "min-replicas-to-write", "could not look (needs +config|get)", ""});
  }
  if (needed == "0") {
    into.push_back({severity::warning, "min-replicas-to-write", "0",
                    "a master that is cut off from all others goes on granting locks that a "
                    "failover forgets; set 1, and a small min-replicas-max-lag"});
  }
}

void examine_sentinels(const redis::sentinel_group& group, milliseconds patience,
                       std::vector<finding>& into) {
  std::string master;
  int answering = 0;
  const auto report = [&](severity level, std::string detail, std::string remedy = {}) {
    into.push_back({level, "sentinel", std::move(detail), std::move(remedy)});
  };
  for (const auto& member : group.members) {
    const auto name = net::to_string(member) + ": ";
    const auto said = redis::ask_sentinel(member, group, {net::now() + patience, patience, {}});
    if (const auto* const broken = std::get_if<redis::breakdown>(&said)) {
      report(severity::warning, name + broken->detail, "start it, or take it out of the URL");
      continue;
    }
    ++answering;
    const auto* const where = std::get_if<net::endpoint>(&said);
    if (where == nullptr) {
      report(severity::problem, name + "it does not know \"" + printable(group.service) + "\"",
             "let it monitor this service, or take it out of the URL");
      continue;
    }
    const auto named = net::to_string(*where);
    if (master.empty()) master = named;
    report(named == master ? severity::ok : severity::problem,
           name + "the master of \"" + printable(group.service) + "\" is " + named,
           named == master ? ""
                           : "the sentinels disagree: a failover is under way, or one is cut "
                             "off from the others");
  }
  if (answering < 3) {
    report(severity::warning, "only " + std::to_string(answering) + " of them answered",
           "with fewer than three, nobody is left to agree on a failover when one dies");
  }
}

}  // namespace

void examine_topology(runtime::client_core& core, std::uint16_t slot, std::vector<finding>& into) {
  const auto& session = core.engine().connection(slot).settings();
  const auto without = session.sentinels    ? severity::problem
                       : session.asks_slots ? severity::warning
                                            : severity::ok;
  try {
    examine_replicas(core, slot, without, into);
  } catch (const failure& broken) {
    into.push_back({severity::warning, "replica", broken.what(), "ask again"});
  }
  if (session.sentinels) examine_sentinels(*session.sentinels, session.connect_timeout / 4, into);
}

}  // namespace holdfast::api
