#include "cli/serve/server_metrics.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "cli/boot_clock.hpp"
#include "cli/exposition.hpp"

namespace holdfast::cli {
namespace {

using seconds = std::chrono::duration<double>;
using reports = std::vector<std::pair<std::string_view, watched_server::report>>;

std::size_t count(const look& seen, lock_state state) {
  return static_cast<std::size_t>(std::ranges::count(seen.locks.locks, state, &lock_status::state));
}

std::size_t holders(const look& seen) {
  std::size_t all = 0;
  for (const auto& lock : seen.locks.locks) all += lock.holding;
  return all;
}

std::size_t waited_for(const look& seen) {
  return static_cast<std::size_t>(std::ranges::count_if(
      seen.locks.locks, [](const lock_status& lock) { return lock.waiting > 0; }));
}

// How long ago the first of these was; 0 when there is none.
class oldest {
 public:
  void consider(const std::optional<look::time_point>& then,
                const std::optional<look::time_point>& now) {
    if (then && now) age_ = std::max(age_, *now - *then);
  }
  double age() const { return seconds(age_).count(); }

 private:
  look::time_point::duration age_{0};
};

double oldest_holder(const look& seen) {
  oldest found;
  for (const auto& lock : seen.locks.locks) {
    for (const auto& one : lock.holders) found.consider(one.since, lock.now);
  }
  return found.age();
}

double oldest_waiter(const look& seen) {
  oldest found;
  for (const auto& lock : seen.locks.locks) {
    for (const auto& one : lock.queue) found.consider(one.since, lock.now);
  }
  return found.age();
}

// Versions are texts of others, and each is a time series: only so many are told apart.
std::map<std::string, std::size_t> clients_by_version(const look& seen) {
  constexpr std::size_t most = 20;
  std::map<std::string, std::size_t> all;
  for (const auto& one : seen.clients) {
    const auto& version = one.who.version.empty() ? "unknown" : one.who.version;
    const bool has_room = all.contains(version) || all.size() < most;
    ++all[has_room ? version : "other"];
  }
  return all;
}

struct metric {
  std::string_view name;
  std::string_view help;
  std::function<double(const look&)> value;
};

// Of what was seen last: each is left out where nothing was seen yet.
const std::vector<metric>& metrics_of_looks() {
  static const std::vector<metric> all = {
      {"holdfast_server_look_seconds", "How long the last look took.",
       [](const look& seen) { return seconds(seen.took).count(); }},
      {"holdfast_server_look_age_seconds", "How old the last look is.",
       [](const look& seen) { return seconds(boot_time() - seen.done_at).count(); }},
      {"holdfast_server_lock_holders", "Grants of all locks.",
       [](const look& seen) { return static_cast<double>(holders(seen)); }},
      {"holdfast_server_waiters", "Requests that wait in queues.",
       [](const look& seen) { return static_cast<double>(seen.waiters); }},
      {"holdfast_server_locks_waited_for", "Locks for which somebody waits.",
       [](const look& seen) { return static_cast<double>(waited_for(seen)); }},
      {"holdfast_server_oldest_holder_seconds",
       "How long ago the oldest grant that still holds was made, by the server's clock.",
       oldest_holder},
      {"holdfast_server_oldest_waiter_seconds",
       "How long the longest waiter has waited, by the server's clock.", oldest_waiter},
      {"holdfast_server_locks_complete", "Whether each held lock was seen.",
       [](const look& seen) { return seen.locks.complete ? 1.0 : 0.0; }},
      {"holdfast_server_clients_complete", "Whether each client was seen.",
       [](const look& seen) { return seen.clients_complete ? 1.0 : 0.0; }},
      {"holdfast_server_unseen", "Locks, clients or servers that could not be looked at.",
       [](const look& seen) {
         return static_cast<double>(seen.locks.unseen.size() + seen.unseen_clients.size());
       }},
      {"holdfast_server_wait_cycles", "Rings of clients that wait for each other.",
       [](const look& seen) { return static_cast<double>(seen.waits.cycles.size()); }},
  };
  return all;
}

void add_locks(exposition& page, const reports& all) {
  page.family("holdfast_server_locks", "gauge", "Locks that are held, or shut.");
  for (const auto& [name, what] : all) {
    if (what.last == nullptr) continue;
    page.sample({{"server", name}, {"state", "held"}},
                std::uint64_t{count(*what.last, lock_state::held)});
    page.sample({{"server", name}, {"state", "shut"}},
                std::uint64_t{count(*what.last, lock_state::shut)});
  }
}

void add_clients(exposition& page, const reports& all) {
  page.family("holdfast_server_clients", "gauge", "Clients, by their version.");
  for (const auto& [name, what] : all) {
    if (what.last == nullptr) continue;
    for (const auto& [version, count] : clients_by_version(*what.last)) {
      page.sample({{"server", name}, {"version", version}}, std::uint64_t{count});
    }
  }
}

void add_findings(exposition& page, const reports& all) {
  const auto count = [](const diagnosis& health, finding::severity level) {
    return static_cast<std::uint64_t>(std::ranges::count(health.findings, level, &finding::level));
  };
  page.family("holdfast_server_doctor_findings", "gauge", "What the doctor found.");
  for (const auto& [name, what] : all) {
    if (what.health == nullptr) continue;
    page.sample({{"server", name}, {"severity", "warning"}},
                count(*what.health, finding::severity::warning));
    page.sample({{"server", name}, {"severity", "problem"}},
                count(*what.health, finding::severity::problem));
  }
}

}  // namespace

std::string server_metrics(const std::vector<std::unique_ptr<watched_server>>& servers) {
  reports all;
  for (const auto& server : servers) all.emplace_back(server->name(), server->now());
  exposition page;
  page.family("holdfast_server_up", "gauge", "Whether the last look was a success.");
  for (const auto& [name, what] : all) {
    page.sample({{"server", name}}, std::uint64_t{what.up ? 1U : 0U});
  }
  for (const auto& one : metrics_of_looks()) {
    page.family(one.name, "gauge", one.help);
    for (const auto& [name, what] : all) {
      if (what.last != nullptr) page.sample({{"server", name}}, one.value(*what.last));
    }
  }
  add_locks(page, all);
  add_clients(page, all);
  const bool has_doctor =
      std::ranges::any_of(servers, [](const auto& server) { return server->has_doctor(); });
  if (has_doctor) add_findings(page, all);
  return page.text();
}

}  // namespace holdfast::cli
