#include "doctor/diagnosis.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/printable.hpp"
#include "base/uncancelled.hpp"
#include "doctor/access_check.hpp"
#include "doctor/cluster_check.hpp"
#include "doctor/encryption_check.hpp"
#include "doctor/script_trial.hpp"
#include "doctor/topology.hpp"
#include "doctor/trial_name.hpp"
#include "doctor/trials.hpp"
#include "lease/clock_rate.hpp"
#include "net/clock.hpp"
#include "redis/calls/ask.hpp"
#include "redis/connection/server_reply.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/resp/server_error.hpp"

namespace holdfast::doctor {
namespace {

using redis::info_field;
using severity = finding::severity;

// Half of what leases allow for, in millionths.
constexpr std::int64_t suspicious_speed = leasing::usual_rate_allowance / 2;

constexpr const char* slower_corrections =
    "let its time service correct more slowly (chrony: maxslewrate 500, instead of its default of "
    "83333), and set the clock at the start of the machine, before locks are used";

class examination {
 public:
  examination(const client& redis, runtime::client_core& core, standing as)
      : redis_(redis),
        core_(core),
        standing_(as == standing::member && redis_locks::engine_of(core).follows_sentinels()
                      ? standing::group
                      : as) {}

  std::vector<finding> run() {
    if (!connects()) {
      examine_those_who_know(core_, findings_);
      return std::move(findings_);
    }
    if (redis_locks::engine_of(core_).is_cluster()) {
      about_the_cluster();
    } else {
      about_one_server(core_.url());
    }
    about_the_clocks();
    if (about_the_scripts()) about_every_kind();
    about_publishing();
    about_the_speed_of_clocks();
    return std::move(findings_);
  }

 private:
  void report(severity level, std::string check, std::string detail, std::string remedy = {}) {
    findings_.push_back({level, std::move(check), std::move(detail), std::move(remedy)});
  }

  void about_one_server(const std::string& name) {
    const asking asks = [this](calls::words what) { return answer(what); };
    about_encryption();
    about_the_server();
    about_its_clock(name, asks);
    for (auto& found : examine_master(asks, standing_)) findings_.push_back(std::move(found));
    examine_access(core_, slot_, asks, findings_);
    examine_topology(core_, slot_, standing_, asks, findings_, clocks_);
  }

  // Each of its masters that answers.
  void about_the_cluster() {
    examine_masters(masters_, findings_);
    for (const auto& [has, silent] : masters_) {
      if (!silent.empty()) continue;
      const auto before = findings_.size();
      slot_ = has.a_slot;
      about_one_server(has.where);
      for (auto at = before; at < findings_.size(); ++at) {
        findings_[at].detail =
            has.where + ", " + std::to_string(has.slots) + " slots: " + findings_[at].detail;
      }
    }
  }

  template <typename What>
  resp::value answer(const What& what) {
    try {
      return calls::ask(core_, slot_, what);
    } catch (const failure& broken) {
      return calls::no_answer(std::string("no answer: ") + broken.what());
    }
  }
  resp::value answer(calls::words what) {
    return answer([&](resp::writer& out) {
      out.command(what.size());
      for (const auto word : what) out.arg(word);
    });
  }

  std::string remedy_for(errc reason) const {
    if (reason == errc::authentication) return "check the user name and HOLDFAST_PASSWORD";
    if (reason == errc::untrusted_server) return "check the certificate of " + core_.url();
    return "check that a server runs at " + core_.url() + " and that nothing blocks it";
  }

  // Asks the master that has the slot, or any master of a cluster. Returns why there is no answer.
  std::optional<failure> why_not_reached() {
    std::optional<failure> why;
    try {
      calls::ask(core_, slot_, {"PING"});
    } catch (const failure& broken) {
      why = broken;
    }
    if (!redis_locks::engine_of(core_).is_cluster()) return why;
    masters_ = ask_masters(core_);
    for (const auto& [has, silent] : masters_) {
      if (!silent.empty()) continue;
      slot_ = has.a_slot;
      return std::nullopt;
    }
    if (!masters_.empty()) why = failure{errc::unavailable, masters_.front().silent};
    return why;
  }

  // Reaches the server and logs in; the rest needs that.
  bool connects() {
    if (const auto broken = why_not_reached()) {
      report(severity::problem, "connect", broken->what(), remedy_for(broken->reason()));
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
    const auto& server = redis_locks::engine_of(core_).at(slot_);
    findings_.push_back(
        examine_encryption(server.where(), server.connection.settings().tls, server.tls()));
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

  void about_its_clock(const std::string& name, const asking& asks) {
    const auto clock = read_clock(name, asks);
    if (!clock) return;
    clocks_.push_back(*clock);
    speeds_.push_back({slot_, *clock});
    const auto drift = clock->ahead + net::now().time_since_epoch() - net::wall_time();
    const auto ms = std::chrono::round<milliseconds>(drift).count();
    const bool close = std::chrono::abs(drift) < std::chrono::seconds{10};
    report(
        close ? severity::ok : severity::warning, "clock",
        "the server's clock is " + std::to_string(ms) + " ms from ours",
        close ? "" : "leases do not depend on it, but let both machines synchronise their clocks");
  }

  // Of those that may take over from each other.
  void about_the_clocks() {
    if (clocks_.size() < 2) return;
    const auto found = largest_difference(clocks_);
    if (found.is_allowed) {
      return report(severity::ok, "clocks", "the servers' clocks are within " + found.in_ms());
    }
    report(severity::warning, "clocks",
           "the clock of " + found.ahead->server + " is " + found.in_ms() + " ahead of that of " +
               found.behind->server,
           "let all synchronise their clocks: a lease ends at a moment of the server's clock, so "
           "when one takes over from the other it ends so much too early, or too late");
  }

  // The margin of deadlines covers the correction of our clock, and of 1 % of the server's.
  void about_the_speed_of_clocks() {
    const auto ours = net::clock_correction();
    const bool is_usual = leasing::rate_allowance_for(ours) == leasing::usual_rate_allowance;
    report(is_usual ? severity::ok : severity::warning, "clock speed",
           is_usual ? "this machine's clock is not being moved to another time"
                    : "this machine's clock is being moved to another time, " + in_percent(ours) +
                          " faster than it runs: leases are counted on for so much less",
           is_usual ? "" : slower_corrections);
    for (const auto& [slot, first] : speeds_) {
      slot_ = slot;
      const auto again =
          read_clock(first.server, [this](calls::words what) { return answer(what); });
      if (!again) continue;
      const auto speed = speed_between(first, *again);
      if (!speed.is_certainly_beyond(suspicious_speed)) continue;
      report(severity::warning, "clock speed",
             "the clock of " + first.server + " runs " + in_percent(speed.faster) +
                 " faster than this machine's: a client whose clock differs by more than 1 % may "
                 "believe a lease that has ended",
             slower_corrections);
    }
  }

  bool about_the_scripts() {
    const auto key = instruments();
    slot_ = key.slot();
    findings_.push_back(try_every_script(
        core_, key, owner_, [this](const calls::writing& what) { return answer(what); }));
    return findings_.back().level == severity::ok;
  }

  // A name whose lock is at a master that answers.
  lock_key instruments() {
    const auto& space = redis_locks::engine_of(core_).space();
    lock_key key(space, name_.text());
    const auto is_silent = [&](const cluster_master& one) {
      return !one.silent.empty() && &redis_locks::engine_of(core_).at(one.has.a_slot) ==
                                        &redis_locks::engine_of(core_).at(key.slot());
    };
    constexpr int most = 100'000;  // one that answers may have a single slot
    for (int i = 0; i < most && std::ranges::any_of(masters_, is_silent); ++i) {
      key = lock_key(space, name_.text() + " " + std::to_string(i));
    }
    return key;
  }

  void about_every_kind() {
    const bool all_answer =
        std::ranges::all_of(masters_, &std::string::empty, &cluster_master::silent);
    if (!all_answer) {
      return report(severity::warning, "kinds",
                    "not tried: their locks may be at a master that does not answer",
                    "ask again when all masters answer");
    }
    const auto as =
        redis_locks::engine_of(core_).is_cluster() ? deployed::cluster : deployed::one_server;
    try_every_kind(redis_, name_.text(), as, findings_);
  }

  // By the answer to HELLO, which an error is as well.
  static bool speaks_resp3(const resp::value& hello) {
    for (std::size_t i = 0; i + 1 < hello.items.size(); i += 2) {
      if (hello.items[i].text == "proto") return hello.items[i + 1].number == 3;
    }
    return false;
  }

  // Only scripts publish; their rights to channels are those of the user.
  void about_publishing() {
    const auto& space = redis_locks::engine_of(core_).space();
    const auto said = answer(
        {"EVAL", "return redis.call('PUBLISH', ARGV[1], 'hello')", "0", space.named("c:doctor")});
    const bool listens = redis_locks::engine_of(core_).options().wakeup == wakeup::notification;
    std::string why_not;
    if (said.is(resp::type::error)) {
      why_not = resp::classify(said.text).detail;
    } else if (listens && !redis_locks::engine_of(core_).hears() &&
               !speaks_resp3(answer({"HELLO"}))) {
      return report(severity::warning, "publish",
                    "waiters are not notified: messages need RESP3, which is not spoken here",
                    "connect to the server without a proxy, do not rename HELLO, and leave out "
                    "?protocol=2; or know that waiters ask, at least every 64 ms");
    } else if (listens && !redis_locks::engine_of(core_).hears()) {
      why_not = "the server lets this user's clients not subscribe";
    } else {
      return report(severity::ok, "publish", "scripts may publish");
    }
    report(severity::warning, "publish", "waiters are not notified: " + why_not,
           "let this user's scripts publish, and its clients subscribe: ACL SETUSER ... +publish "
           "+subscribe resetchannels &" +
               space.named("c:*"));
  }

  const client& redis_;
  runtime::client_core& core_;
  const standing standing_;
  const request_id owner_ = redis_locks::engine_of(core_).next_request();
  const trial_name name_{redis_locks::engine_of(core_).id(), owner_};
  std::uint16_t slot_ = 0;               // whose master is asked
  std::vector<cluster_master> masters_;  // none: it is no cluster
  std::vector<clock_reading> clocks_;
  std::vector<std::pair<std::uint16_t, clock_reading>> speeds_;  // as first read, of each master
  std::vector<finding> findings_;
};

}  // namespace

std::vector<finding> diagnose(const client& redis, runtime::client_core& core, standing as) {
  const uncancelled meanwhile;  // it connects and talks itself
  auto found = examination(redis, core, as).run();
  // After a stop answers are missing, which is no fault of the server's.
  if (core.engine().options().stop.stop_requested()) throw failure{errc::cancelled};
  // As errors do: servers have said much of it.
  for (auto& one : found) {
    one.detail = without_control_bytes(one.detail);
    one.remedy = without_control_bytes(one.remedy);
  }
  return found;
}

}  // namespace holdfast::doctor
