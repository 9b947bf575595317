#include "api/diagnosis.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "api/ask.hpp"
#include "dialects/catalog.hpp"
#include "dialects/holdfast/inspect.hpp"
#include "lease/server_clock.hpp"
#include "net/clock.hpp"
#include "resp/server_error.hpp"

namespace holdfast::api {
namespace {

using severity = finding::severity;

// A field of an INFO answer ("name:value" lines); empty when it is not there.
std::string info_field(const std::string& info, std::string_view name) {
  std::size_t line = 0;
  while (line < info.size()) {
    const auto end = std::min(info.find("\r\n", line), info.size());
    const auto text = std::string_view(info).substr(line, end - line);
    if (text.starts_with(name) && text.size() > name.size() && text[name.size()] == ':') {
      return std::string(text.substr(name.size() + 1));
    }
    line = end + 2;
  }
  return {};
}

class examination {
 public:
  explicit examination(runtime::client_core& core) : core_(core) {}

  std::vector<finding> run() {
    if (connects()) {
      about_the_server();
      about_its_clock();
      about_the_scripts();
      about_publishing();
      about_its_safety();
    }
    return std::move(findings_);
  }

 private:
  void report(severity level, std::string check, std::string detail, std::string remedy = {}) {
    findings_.push_back({level, std::move(check), std::move(detail), std::move(remedy)});
  }

  template <typename What>
  resp::value answer(const What& what) {
    try {
      return ask(core_, what);
    } catch (const failure& broken) {
      resp::value none;
      none.kind = resp::type::error;
      none.text = std::string("no answer: ") + broken.what();
      return none;
    }
  }
  resp::value answer(std::initializer_list<std::string_view> words) {
    return answer([&](resp::writer& out) {
      out.command(words.size());
      for (const auto word : words) out.arg(word);
    });
  }

  // Reaches the server and logs in; the rest needs that.
  bool connects() {
    try {
      ask(core_, {"PING"});
    } catch (const failure& broken) {
      const bool login = broken.reason() == errc::authentication;
      report(severity::problem, "connect", broken.what(),
             login ? "check the user name and HOLDFAST_PASSWORD"
                   : "check that a server runs at " + core_.url() + " and that nothing blocks it");
      return false;
    }
    std::array<nanoseconds, 21> trips{};
    for (auto& trip : trips) {
      const auto before = net::now();
      if (answer({"PING"}).is(resp::type::error)) break;
      trip = net::now() - before;
    }
    std::ranges::nth_element(trips, trips.begin() + trips.size() / 2);
    const auto median = std::chrono::round<microseconds>(trips[trips.size() / 2]).count();
    report(severity::ok, "connect", core_.url() + ", round trip " + std::to_string(median) + " us");
    return true;
  }

  void about_the_server() {
    const auto info = answer({"INFO", "server"});
    if (info.is(resp::type::error)) {
      return report(severity::warning, "version", resp::classify(info.text).detail,
                    "allow INFO for this user, so that the version can be checked");
    }
    const auto valkey = info_field(info.text, "valkey_version");
    const auto version = valkey.empty() ? info_field(info.text, "redis_version") : valkey;
    int major = 0;
    int minor = 0;
    const auto* const end = version.data() + version.size();
    const auto [dot, code] = std::from_chars(version.data(), end, major);
    if (code == std::errc{} && dot != end) std::from_chars(dot + 1, end, minor);
    const bool recent = !valkey.empty() || major > 6 || (major == 6 && minor >= 2);
    report(recent ? severity::ok : severity::problem, "version",
           (valkey.empty() ? "Redis " : "Valkey ") + version,
           recent ? "" : "Holdfast needs Redis 6.2 or later, or Valkey");
  }

  void about_its_clock() {
    const auto drift = core_.engine().clock_distance();
    const auto ms = std::chrono::round<milliseconds>(drift).count();
    const bool close = std::chrono::abs(drift) < std::chrono::seconds{10};
    report(
        close ? severity::ok : severity::warning, "clock",
        "the server's clock is " + std::to_string(ms) + " ms from ours",
        close ? "" : "leases do not depend on it, but let both machines synchronise their clocks");
  }

  // Runs every script the way it runs in earnest.
  void about_the_scripts() {
    auto& engine = core_.engine();
    const auto owner = engine.next_request();
    const lock_key key("holdfast doctor " + owner.shortened());
    dialects::claim claim{.key = &key, .owner = owner, .lease = std::chrono::seconds{10}};
    const auto& recipe = dialects::native_mutex(fencing::on);
    const auto* const only = &claim;
    const auto acquired = answer(
        [&](resp::writer& out) { recipe.write_acquire(claim, false, leasing::far_future, out); });
    const auto verdict = recipe.read_acquire(claim, acquired);
    const auto* const grant = std::get_if<dialects::granted>(&verdict);
    if (grant == nullptr) return script_failed("acquire", acquired);
    claim.granted = grant->major;
    const std::pair<const char*, std::function<void(resp::writer&)>> rest[] = {
        {"renew",
         [&](auto& o) {
           recipe.write_renew({&only, 1}, leasing::far_future, o);
         }},
        {"inspect", [&](auto& o) { dialects::write_inspect(key, o); }},
        {"withdraw", [&](auto& o) { recipe.write_withdraw(claim, o); }},
        {"release", [&](auto& o) { recipe.write_release(claim, o); }},
        {"break", [&](auto& o) { dialects::write_break(key, o); }},
    };
    for (const auto& [name, write] : rest) {
      const auto said = answer(write);
      if (said.is(resp::type::error)) return script_failed(name, said);
    }
    report(severity::ok, "scripts", "acquire, renew, inspect, withdraw, release and break work");
  }

  void script_failed(const std::string& name, const resp::value& said) {
    const auto error = resp::classify(said.is(resp::type::error) ? said.text : to_string(said));
    report(severity::problem, "scripts", name + ": " + error.detail,
           error.code == errc::permission_denied
               ? "allow the commands and keys listed in docs/wire/holdfast.md for this user"
               : "see docs/server-errors.md");
  }

  // Only scripts publish; their rights to channels are those of the user.
  void about_publishing() {
    const auto said = answer({"EVAL", "return redis.call('PUBLISH', 'hf:c:doctor', 'hello')", "0"});
    if (!said.is(resp::type::error)) return report(severity::ok, "publish", "scripts may publish");
    report(severity::warning, "publish",
           "who waits is not told of his turn: " + resp::classify(said.text).detail,
           "let this user's scripts publish, and its clients subscribe: ACL SETUSER ... +publish "
           "+subscribe resetchannels &hf:c:*");
  }

  void about_its_safety() {
    const auto memory = answer({"INFO", "memory"});
    if (memory.is(resp::type::error)) return;  // said under "version" already
    const auto policy = info_field(memory.text, "maxmemory_policy");
    const bool bounded = info_field(memory.text, "maxmemory") != "0";
    const bool evicts = bounded && policy != "noeviction";
    report(evicts ? severity::problem : severity::ok, "eviction",
           "maxmemory-policy " + policy + (bounded ? "" : ", no memory limit"),
           evicts ? "a full server may drop locks that are held; use noeviction" : "");
    const auto replication = answer({"INFO", "replication"});
    const auto role = info_field(replication.text, "role");
    report(role == "slave" ? severity::problem : severity::ok, "role",
           role == "slave" ? "this is a replica" : "this is a master",
           role == "slave" ? "locks need the master; give its address" : "");
    const auto persistence = answer({"INFO", "persistence"});
    const bool log = info_field(persistence.text, "aof_enabled") == "1";
    report(log ? severity::ok : severity::warning, "persistence",
           log ? "the append-only file is on" : "the append-only file is off",
           log ? ""
               : "a server that restarts empty forgets who holds a lock; fencing tokens still "
                 "grow. If that matters: appendonly yes, or a restart delayed by the lease");
  }

  runtime::client_core& core_;
  std::vector<finding> findings_;
};

}  // namespace

std::vector<finding> diagnose(runtime::client_core& core) { return examination(core).run(); }

}  // namespace holdfast::api
