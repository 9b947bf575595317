#include "api/diagnosis.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "api/ask.hpp"
#include "api/topology.hpp"
#include "api/trials.hpp"
#include "dialects/catalog.hpp"
#include "dialects/holdfast/inspect.hpp"
#include "dialects/holdfast/quorum_inspect.hpp"
#include "lease/server_clock.hpp"
#include "net/clock.hpp"
#include "redis/server_reply.hpp"
#include "resp/server_error.hpp"

namespace holdfast::api {
namespace {

using redis::info_field;
using severity = finding::severity;

class examination {
 public:
  examination(const client& redis, runtime::client_core& core, standing as)
      : redis_(redis), core_(core), standing_(as) {}

  std::vector<finding> run() {
    if (connects()) {
      const auto as = core_.engine().is_cluster() ? deployed::cluster : deployed::one_server;
      if (as == deployed::cluster) {
        about_the_cluster();
      } else {
        about_one_server(core_.url());
      }
      if (about_the_scripts()) try_every_kind(redis_, instruments_.name(), as, findings_);
      about_publishing();
    }
    return std::move(findings_);
  }

 private:
  void report(severity level, std::string check, std::string detail, std::string remedy = {}) {
    findings_.push_back({level, std::move(check), std::move(detail), std::move(remedy)});
  }

  // `url`: its own, without a login.
  void about_one_server(const std::string& url) {
    about_encryption();
    about_the_server();
    about_its_clock();
    about_its_safety(url);
    examine_topology(core_, slot_, findings_);
  }

  // Each of its masters.
  void about_the_cluster() {
    const auto shares = core_.engine().its_cluster()->shares();
    std::size_t served = 0;
    for (const auto& share : shares) served += share.slots;
    const bool whole = served == redis::hash_slots;
    report(whole ? severity::ok : severity::problem, "cluster",
           std::to_string(shares.size()) +
               (shares.size() == 1 ? " master has " : " masters have ") + std::to_string(served) +
               " of " + std::to_string(redis::hash_slots) + " slots",
           whole ? "" : "locks of the other slots are not available: see CLUSTER INFO of a node");
    for (const auto& share : shares) {
      const auto before = findings_.size();
      slot_ = share.a_slot;
      const bool is_plain = core_.engine().at(slot_).tls().empty();
      about_one_server((is_plain ? "redis://" : "rediss://") + share.where);
      for (auto at = before; at < findings_.size(); ++at) {
        findings_[at].detail =
            share.where + ", " + std::to_string(share.slots) + " slots: " + findings_[at].detail;
      }
    }
  }

  template <typename What>
  resp::value answer(const What& what) {
    try {
      return ask(core_, slot_, what);
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

  std::string remedy_for(errc reason) const {
    if (reason == errc::authentication) return "check the user name and HOLDFAST_PASSWORD";
    if (reason == errc::untrusted_server) return "check the certificate of " + core_.url();
    return "check that a server runs at " + core_.url() + " and that nothing blocks it";
  }

  // Reaches the server and logs in; the rest needs that.
  bool connects() {
    try {
      ask(core_, slot_, {"PING"});
    } catch (const failure& broken) {
      report(severity::problem, "connect", broken.what(), remedy_for(broken.reason()));
      return false;
    }
    std::array<nanoseconds, 21> trips{};
    for (auto& trip : trips) {
      const auto before = net::now();
      (void)answer({"PING"});  // a refusal has travelled as far
      trip = net::now() - before;
    }
    std::ranges::nth_element(trips, trips.begin() + trips.size() / 2);
    const auto median = std::chrono::round<microseconds>(trips[trips.size() / 2]).count();
    report(severity::ok, "connect", core_.url() + ", round trip " + std::to_string(median) + " us");
    return true;
  }

  void about_encryption() {
    const auto tls = core_.engine().at(slot_).tls();
    if (tls.empty()) return;
    if (!core_.engine().options().tls.insecure_accept_any_certificate) {
      return report(severity::ok, "tls", tls + ", the server has proved who it is");
    }
    report(
        severity::warning, "tls", tls + ", but any certificate is accepted",
        "whoever is on the way can read and change everything: trust the certificate's authority "
        "with tls.ca_file (--tls-ca) instead");
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
    const auto drift =
        core_.engine().clock(slot_).estimate(net::now()).time_since_epoch() - net::wall_time();
    const auto ms = std::chrono::round<milliseconds>(drift).count();
    const bool close = std::chrono::abs(drift) < std::chrono::seconds{10};
    report(
        close ? severity::ok : severity::warning, "clock",
        "the server's clock is " + std::to_string(ms) + " ms from ours",
        close ? "" : "leases do not depend on it, but let both machines synchronise their clocks");
  }

  // Runs every script of the mutex the way it runs in earnest, and those that operators need.
  bool about_the_scripts() {
    const auto& key = instruments_;
    slot_ = key.slot();
    dialects::claim claim{.key = &key, .owner = owner_, .lease = std::chrono::seconds{10}};
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
        {"break of what several hold", [&](auto& o) { dialects::write_break_shared(key, o); }},
        {"inspect of a vote", [&](auto& o) { dialects::write_quorum_inspect(key, o); }},
        {"break of a vote", [&](auto& o) { dialects::write_quorum_break(key, 0, o); }},
    };
    for (const auto& [name, write] : rest) {
      const auto said = answer(write);
      if (said.is(resp::type::error)) return script_failed(name, said);
    }
    report(severity::ok, "scripts", "acquire, renew, inspect, withdraw, release and break work");
    return true;
  }

  bool script_failed(const std::string& name, const resp::value& said) {
    const auto error = resp::classify(said.is(resp::type::error) ? said.text : to_string(said));
    report(
        severity::problem, "scripts", name + ": " + error.detail,
        error.code == errc::permission_denied
            ? "give this user the rights that `holdfast acl '*' --kind operator` prints, of which "
              "some are doctor's own"
            : "see docs/server-errors.md");
    return false;
  }

  // Only scripts publish; their rights to channels are those of the user.
  void about_publishing() {
    const auto said = answer({"EVAL", "return redis.call('PUBLISH', 'hf:c:doctor', 'hello')", "0"});
    const bool listens = core_.engine().options().wakeup == wakeup::notification;
    std::string why_not;
    if (said.is(resp::type::error)) {
      why_not = resp::classify(said.text).detail;
    } else if (listens && !core_.engine().hears()) {
      why_not = "the server lets this user's clients not subscribe";
    } else {
      return report(severity::ok, "publish", "scripts may publish");
    }
    report(severity::warning, "publish", "who waits is not told of his turn: " + why_not,
           "let this user's scripts publish, and its clients subscribe: ACL SETUSER ... +publish "
           "+subscribe resetchannels &hf:c:*");
  }

  void about_its_safety(const std::string& url) {
    const asking asks = [this](std::initializer_list<std::string_view> words) {
      return answer(words);
    };
    for (auto& found : examine_deployment(asks, url, standing_))
      findings_.push_back(std::move(found));
  }

  const client& redis_;
  runtime::client_core& core_;
  const standing standing_;
  const request_id owner_ = core_.engine().next_request();
  const lock_key instruments_{"holdfast doctor " + owner_.shortened()};
  std::uint16_t slot_ = 0;  // whose master is asked
  std::vector<finding> findings_;
};

}  // namespace

std::vector<finding> diagnose(const client& redis, runtime::client_core& core, standing as) {
  return examination(redis, core, as).run();
}

}  // namespace holdfast::api
