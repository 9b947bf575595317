#include "doctor/deployment.hpp"

#include <optional>
#include <string>
#include <utility>

#include "redis/connection/server_reply.hpp"

namespace holdfast::doctor {
namespace {

using redis::info_field;
using severity = finding::severity;

class deployment {
 public:
  deployment(const asking& ask, standing as) : ask_(ask), as_(as) {}

  std::vector<finding> examine(bool is_master) {
    const auto memory = ask_({"INFO", "memory"});
    if (memory.is(resp::type::error)) return {};
    about_eviction(memory.text);
    if (is_master) look(&deployment::about_role, "replication");
    look(&deployment::about_persistence, "persistence");
    return std::move(findings_);
  }

 private:
  void report(severity level, std::string check, std::string detail, std::string remedy = {}) {
    findings_.push_back({level, std::move(check), std::move(detail), std::move(remedy)});
  }

  // An error is not taken for an answer.
  void look(void (deployment::*about)(const std::string&), std::string_view section) {
    const auto info = ask_({"INFO", section});
    if (!info.is(resp::type::error)) (this->*about)(info.text);
  }

  // Nothing when the user may not look.
  std::optional<std::string> setting(std::string_view name) const {
    return redis::read_setting(ask_({"CONFIG", "GET", name}));
  }

  void about_eviction(const std::string& memory) {
    const auto policy = info_field(memory, "maxmemory_policy");
    const bool bounded = info_field(memory, "maxmemory") != "0";
    const bool evicts = bounded && policy != "noeviction";
    report(
        evicts ? severity::problem : severity::ok, "eviction",
        "maxmemory-policy " + policy + (bounded ? "" : ", no memory limit"),
        evicts
            ? "a full server may drop locks that are held, and the answers by which a change of a "
              "value counts once; use noeviction"
            : "");
  }

  void about_role(const std::string& replication) {
    const bool replica = info_field(replication, "role") == "slave";
    report(replica ? severity::problem : severity::ok, "role",
           replica ? "this is a replica" : "this is a master",
           replica ? "locks need the master; give its address" : "");
  }

  void about_persistence(const std::string& persistence) {
    if (info_field(persistence, "aof_enabled") == "1") return about_the_file();
    const std::string off = "the append-only file is off";
    const auto snapshots = setting("save");
    if (!snapshots) {
      return may_forget(severity::warning, off + "; could not look at save (needs +config|get)");
    }
    if (!snapshots->empty()) {
      return forgets_something(off + ": it restarts with a snapshot, of some time ago");
    }
    const auto empty = off + ", and so are snapshots: it restarts empty, at once";
    if (as_ == standing::alone) return may_forget(severity::warning, empty);
    report(severity::ok, "persistence", empty + ", which clients notice");
  }

  void about_the_file() {
    const std::string on = "the append-only file is on";
    const auto written = setting("appendfsync");
    if (!written) {
      return report(severity::ok, "persistence",
                    on + "; could not look at appendfsync (needs +config|get)");
    }
    if (*written == "always") {
      return report(severity::ok, "persistence", on + ", and on disk before each answer");
    }
    forgets_something(on + ", with appendfsync " + *written + ": when the machine dies, it loses " +
                      (*written == "everysec" ? "the last second or two" : "the last half minute"));
  }

  // The server comes back with an old state. Nobody notices that of a member that is one server.
  // The one crash that a quorum should survive may then give a lock two holders.
  void forgets_something(const std::string& how) {
    may_forget(as_ == standing::member ? severity::problem : severity::warning, how);
  }

  void may_forget(severity level, const std::string& how) {
    if (as_ == standing::group) {
      return report(severity::ok, "persistence", how + ", and clients notice what it forgets");
    }
    report(level, "persistence", how,
           as_ == standing::member
               ? "nobody notices a member that comes back with an old state, and it may vote for "
                 "another client beside the holder: appendonly yes with appendfsync always, "
                 "or neither that file nor snapshots"
               : "a server that comes back within a lease, and has lost its last answers, forgets "
                 "who holds a lock; fencing tokens still grow. If that matters: appendonly "
                 "yes with appendfsync always, or a restart delayed by the longest lease");
  }

  const asking& ask_;
  const standing as_;
  std::vector<finding> findings_;
};

}  // namespace

std::vector<finding> examine_master(const asking& ask, standing as) {
  return deployment(ask, as).examine(true);
}

std::vector<finding> examine_replica(const asking& ask, standing as) {
  return deployment(ask, as).examine(false);
}

}  // namespace holdfast::doctor
