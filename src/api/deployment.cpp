#include "api/deployment.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <holdfast/counter.hpp>
#include <holdfast/errc.hpp>

#include "redis/server_reply.hpp"

namespace holdfast::api {
namespace {

using redis::info_field;
using severity = finding::severity;

bool is_loopback(std::string_view address) {
  if (address.starts_with('-')) address.remove_prefix(1);  // "if there is such an interface"
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

// Whether every address of the list is one of this machine alone. No list: the server takes all.
bool is_local(std::string_view addresses) {
  if (addresses.empty()) return false;
  while (!addresses.empty()) {
    const auto address = addresses.substr(0, addresses.find(' '));
    if (!address.empty() && !is_loopback(address)) return false;
    addresses.remove_prefix(std::min(addresses.size(), address.size() + 1));
  }
  return true;
}

class deployment {
 public:
  deployment(const asking& ask, const std::string& url, standing as)
      : ask_(ask), url_(url), is_member_(as == standing::member) {}

  std::vector<finding> examine() {
    const auto memory = ask_({"INFO", "memory"});
    if (memory.is(resp::type::error)) return {};  // said under "version" already
    about_eviction(memory.text);
    about_role(ask_({"INFO", "replication"}).text);
    about_persistence(ask_({"INFO", "persistence"}).text);
    about_access();
    return std::move(findings_);
  }

 private:
  void report(severity level, std::string check, std::string detail, std::string remedy = {}) {
    findings_.push_back({level, std::move(check), std::move(detail), std::move(remedy)});
  }

  // Nothing when the user may not look.
  std::optional<std::string> setting(std::string_view name) const {
    return redis::read_setting(ask_({"CONFIG", "GET", name}));
  }

  // What is known is right; a setting that matters beside it could not be read.
  void could_not_look(std::string check, const std::string& known, const std::string& setting) {
    report(severity::ok, std::move(check),
           known + "; could not look at " + setting + " (needs +config|get)");
  }

  void about_eviction(const std::string& memory) {
    const auto policy = info_field(memory, "maxmemory_policy");
    const bool bounded = info_field(memory, "maxmemory") != "0";
    const bool evicts = bounded && policy != "noeviction";
    report(evicts ? severity::problem : severity::ok, "eviction",
           "maxmemory-policy " + policy + (bounded ? "" : ", no memory limit"),
           evicts ? "a full server may drop locks that are held; use noeviction" : "");
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
    if (!is_member_) return may_forget(severity::warning, empty);
    report(severity::ok, "persistence", empty + ", which is noticed");
  }

  void about_the_file() {
    const std::string on = "the append-only file is on";
    const auto written = setting("appendfsync");
    if (!written) return could_not_look("persistence", on, "appendfsync");
    if (*written == "always") {
      return report(severity::ok, "persistence", on + ", and on disk before each answer");
    }
    forgets_something(on + ", with appendfsync " + *written + ": when the machine dies, it loses " +
                      (*written == "everysec" ? "the last second or two" : "the last half minute"));
  }

  // It comes back with what was so before. Of a member nobody notices that: the one crash that a
  // quorum is there to survive may then give a lock two holders.
  void forgets_something(const std::string& how) {
    may_forget(is_member_ ? severity::problem : severity::warning, how);
  }

  void may_forget(severity level, const std::string& how) {
    report(level, "persistence", how,
           is_member_
               ? "a member that comes back with an old state is not noticed, and may vote "
                 "for somebody else beside a holder: appendonly yes with appendfsync always, "
                 "or neither that file nor snapshots"
               : "a server that comes back within a lease without what it answered forgets "
                 "who holds a lock; fencing tokens still grow. If that matters: appendonly "
                 "yes with appendfsync always, or a restart delayed by the longest lease");
  }

  // Whoever comes in may break every lock.
  void about_access() {
    const auto enters = lets_anybody_in();
    if (!enters) return;
    if (!*enters) return report(severity::ok, "access", "a password is asked for");
    const std::string open = "no password is asked for";
    const auto port = setting("port");
    const auto bound = setting("bind");
    const auto guarded = setting("protected-mode");
    if (!port || !bound || !guarded) {
      return could_not_look("access", open, "port, bind and protected-mode");
    }
    if (*port == "0" || is_local(*bound)) {
      return report(severity::ok, "access", open + ", on this machine only");
    }
    const auto where = bound->empty() ? std::string("all addresses") : *bound;
    if (*guarded == "yes") {
      return report(severity::ok, "access",
                    open + " at " + where + ", but protected mode keeps other machines out");
    }
    report(severity::warning, "access", open + " at " + where + ", and protected mode is off",
           "whoever reaches the server can break every lock: give the default user a password "
           "(requirepass, or ACL SETUSER), and each program a user of its own (holdfast acl)");
  }

  // Tries it: the rights to look it up would be the right to read the password. Nothing when that
  // failed for another reason.
  std::optional<bool> lets_anybody_in() const {
    if (url_.starts_with("embedded:")) return std::nullopt;
    try {
      (void)client(url_).counter("holdfast doctor").get();
      return true;
    } catch (const failure& refused) {
      if (refused.reason() == errc::authentication) return false;
      if (refused.reason() == errc::permission_denied) return true;
      if (refused.reason() == errc::unsupported) return true;  // a cluster's: it names another node
      return std::nullopt;
    }
  }

  const asking& ask_;
  const std::string& url_;
  const bool is_member_;
  std::vector<finding> findings_;
};

}  // namespace

std::vector<finding> examine_deployment(const asking& ask, const std::string& url, standing as) {
  return deployment(ask, url, as).examine();
}

}  // namespace holdfast::api
