#include "faults/runs/strikes.hpp"

#include <optional>
#include <sstream>

#include "support/eventually.hpp"
#include "support/pause.hpp"

namespace holdfast::faults {

namespace {

using history::kind;

// A message may be lost, and whoever waits asks after 2 s; before that a connection is noticed to
// be dead, and made again.
constexpr milliseconds missed{4000};
constexpr milliseconds busy_machine{1000};
constexpr milliseconds healing{15'000};
// Each one that was frozen or killed in the queue costs a claim.
constexpr milliseconds a_claim{1000};
constexpr milliseconds no_order{3'600'000};

// Every release is told: whoever waits need not find it out by the end of the lease.
constexpr history::bounds undisturbed{.lock_free = {milliseconds(250)},
                                      .lock_orphaned = {busy_machine},
                                      .return_late = busy_machine,
                                      .loss_late = busy_machine,
                                      .call_arrives = milliseconds(200),
                                      .healing = healing};
constexpr history::bounds slowed{.lock_free = {busy_machine},
                                 .lock_orphaned = {busy_machine},
                                 .return_late = busy_machine,
                                 .loss_late = busy_machine,
                                 .call_arrives = no_order,
                                 .healing = healing};
constexpr history::bounds disturbed{.lock_free = {missed, a_claim},
                                    .lock_orphaned = {missed, a_claim},
                                    .return_late = 2 * busy_machine,
                                    .loss_late = busy_machine,
                                    .call_arrives = no_order,
                                    .healing = healing};

void nothing(scene&) { support::pause(milliseconds(50)); }

const std::string& any_lock(scene& at) { return contests()[at.any(contests().size())].name; }

// The request that has this lock, or one of them, as the server tells (docs/wire/holdfast.md).
std::string holding_request(scene& at, const std::string& key) {
  if (at.server.command({"TYPE", key}).text != "hash") {
    const auto value = at.server.command({"GET", key}).text;
    return value.substr(value.rfind(':') + 1);
  }
  for (const auto& field : at.server.command({"HKEYS", key}).items) {
    if (field.text != "=") return field.text;
  }
  return {};
}

// The worker behind a request.
std::optional<std::size_t> worker_of(scene& at, const std::string& request) {
  const auto client = "hf:client:" + request.substr(0, request.find('-'));
  const auto pid = at.server.command({"HGET", client, "pid"}).text;
  return at.workers.find(pid.empty() ? 0 : std::stoll(pid));
}

std::optional<std::size_t> owner(scene& at, const std::string& lock) {
  return worker_of(at, holding_request(at, "hf:{" + lock + "}"));
}

std::optional<std::size_t> first_in_queue(scene& at, const std::string& lock) {
  const auto waiters = at.server.command({"ZRANGE", "hf:{" + lock + "}:w", "0", "0"}).items;
  if (waiters.empty()) return std::nullopt;
  return worker_of(at, waiters[0].text);
}

using chooser = std::optional<std::size_t> (*)(scene&, const std::string& lock);

struct target {
  const std::string& lock;
  std::size_t worker;
};

// A lock, and such a worker of it as soon as there is one; if there is none for long, any.
target find(scene& at, chooser who) {
  const auto& lock = any_lock(at);
  std::optional<std::size_t> worker;
  static_cast<void>(support::eventually(
      [&] {
        worker = who(at, lock);
        return worker.has_value();
      },
      milliseconds(300)));
  return {lock, worker.value_or(at.any(at.workers.size()))};
}

// The holder of a lock; now and then the next holder.
target victim(scene& at) { return find(at, at.any(3) == 0 ? first_in_queue : owner); }

void kill_worker(scene& at) { at.workers.kill(victim(at).worker); }

// So long that others have the lock, and change what it protects.
void freeze_past_lease(scene& at, const target& who) {
  at.workers.freeze(who.worker);
  support::pause(longest_lease());
  static_cast<void>(support::eventually(
      [&] { return owner(at, who.lock).value_or(who.worker) != who.worker; }, milliseconds(3000)));
  support::pause(milliseconds(20 + at.any(200)));
  at.workers.thaw(who.worker);
}

void stop_past_lease(scene& at) { freeze_past_lease(at, victim(at)); }

// Only the holder writes an old value when it wakes up.
void stop_owner_past_lease(scene& at) { freeze_past_lease(at, find(at, owner)); }

void stop_below_lease(scene& at) {
  const auto frozen = victim(at).worker;
  at.workers.freeze(frozen);
  support::pause(milliseconds(20 + at.any(100)));
  at.workers.thaw(frozen);
}

// The workers' connections over which messages come, or those over which none do.
std::vector<std::string> connections(scene& at, bool told) {
  std::vector<std::string> ids;
  std::istringstream lines(at.server.command({"CLIENT", "LIST"}).text);
  for (std::string line; std::getline(lines, line);) {
    const bool of_worker = line.find(std::string(" name=") + connection_name) != std::string::npos;
    const bool subscribed = line.find(" sub=0 ") == std::string::npos;
    if (of_worker && subscribed == told) ids.push_back(line.substr(3, line.find(' ') - 3));
  }
  return ids;
}

// All of one sort; a worker that has lost its connection just before must have made it again.
void kill_connections(scene& at) {
  const bool told = at.any(2) == 0;
  const bool hit = support::eventually(
      [&] {
        std::int64_t killed = 0;
        for (const auto& id : connections(at, told)) {
          killed += at.server.command({"CLIENT", "KILL", "ID", id}).number;
        }
        return killed > 0;
      },
      busy_machine);
  if (!hit) ++at.missed;
}

void script_flush(scene& at) { at.server.command({"SCRIPT", "FLUSH"}); }

support::toward any_direction(scene& at) {
  return at.any(2) == 0 ? support::toward::server : support::toward::client;
}

// Runs while the network or the server does not work.
template <typename Function>
void while_broken(scene& at, Function&& function) {
  const auto begin = time_now();
  function();
  at.log.record({.time = begin, .what = kind::broken, .until = time_now()});
}

void proxy_delay(scene& at) {
  at.network.delay(any_direction(at), milliseconds(5 + at.any(60)));
  support::pause(milliseconds(300));
  at.network.heal();
}

void proxy_stall_one_direction(scene& at) {
  while_broken(at, [&at] {
    at.network.stall(any_direction(at));
    support::pause(milliseconds(50 + at.any(800)));
    at.network.heal();
  });
}

void proxy_cut_after_n(scene& at) {
  while_broken(at, [&at] {
    const auto how = at.any(2) == 0 ? support::cut::close : support::cut::reset;
    at.network.cut_after(any_direction(at), at.any(800), how);
    support::pause(milliseconds(100));
    at.network.heal();
  });
}

// Holdfast's keys are gone, wholly or in part.
template <typename Function>
void emptied(scene& at, Function&& function) {
  const auto begin = time_now();
  function();
  at.log.record({.time = begin, .what = kind::emptied, .until = time_now()});
}

void flushall(scene& at) {
  emptied(at, [&at] { at.server.command({"FLUSHALL"}); });
}

void delete_keys(scene& at) {
  emptied(at, [&at] {
    const auto keys = at.server.command({"KEYS", "hf:*"}).items;
    if (keys.empty()) {
      ++at.missed;
    } else {
      at.server.command({"DEL", keys[at.any(keys.size())].text});
    }
  });
}

void server_restart_empty(scene& at) {
  emptied(at, [&at] { while_broken(at, [&at] { at.server.restart(); }); });
  support::pause(milliseconds(500));
}

}  // namespace

const std::vector<fault>& faults() {
  static const std::vector<fault> all{
      {"none", nothing, undisturbed},
      {"kill_worker", kill_worker, disturbed, false, true},
      {"stop_past_lease", stop_past_lease, disturbed},
      {"stop_below_lease", stop_below_lease, slowed},
      {"kill_connections", kill_connections, disturbed},
      {"script_flush", script_flush, undisturbed},
      {"proxy_delay", proxy_delay, slowed, true},
      {"proxy_stall_one_direction", proxy_stall_one_direction, disturbed, true},
      {"proxy_cut_after_n", proxy_cut_after_n, disturbed, true},
      {"flushall", flushall, disturbed},
      {"delete_keys", delete_keys, disturbed, false, true},
      {"server_restart_empty", server_restart_empty, disturbed},
      {"unfenced", stop_owner_past_lease, disturbed, false, false, expectation::lost_writes},
  };
  return all;
}

}  // namespace holdfast::faults
