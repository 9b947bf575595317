#include "faults/runs/strikes.hpp"

#include <poll.h>

#include <optional>

#include "support/eventually.hpp"

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

void pause(milliseconds time) { ::poll(nullptr, 0, int(time.count())); }

void nothing(scene&) { pause(milliseconds(50)); }

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

// The worker behind it.
std::optional<std::size_t> owner(scene& at, const std::string& lock) {
  const auto request = holding_request(at, "hf:{" + lock + "}");
  const auto client = "hf:client:" + request.substr(0, request.find('-'));
  const auto pid = at.server.command({"HGET", client, "pid"}).text;
  return at.workers.find(pid.empty() ? 0 : std::stoll(pid));
}

std::size_t victim(scene& at, const std::string& lock) {
  return owner(at, lock).value_or(at.any(at.workers.size()));
}

void kill_worker(scene& at) { at.workers.kill(victim(at, any_lock(at))); }

// So long that others have the lock, and change what it protects.
void stop_past_lease(scene& at) {
  const auto& lock = any_lock(at);
  const auto frozen = victim(at, lock);
  at.workers.freeze(frozen);
  pause(longest_lease());
  static_cast<void>(support::eventually([&] { return owner(at, lock).value_or(frozen) != frozen; },
                                        milliseconds(3000)));
  pause(milliseconds(20 + at.any(200)));
  at.workers.thaw(frozen);
}

void stop_below_lease(scene& at) {
  const auto frozen = victim(at, any_lock(at));
  at.workers.freeze(frozen);
  pause(milliseconds(20 + at.any(100)));
  at.workers.thaw(frozen);
}

// All but those of the one who asks for it.
void kill_connections(scene& at) {
  const auto* const type = at.any(2) == 0 ? "normal" : "pubsub";
  at.server.command({"CLIENT", "KILL", "TYPE", type, "SKIPME", "yes"});
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
  pause(milliseconds(300));
  at.network.heal();
}

void proxy_stall_one_direction(scene& at) {
  while_broken(at, [&at] {
    at.network.stall(any_direction(at));
    pause(milliseconds(50 + at.any(800)));
    at.network.heal();
  });
}

void proxy_cut_after_n(scene& at) {
  while_broken(at, [&at] {
    const auto how = at.any(2) == 0 ? support::cut::close : support::cut::reset;
    at.network.cut_after(any_direction(at), at.any(800), how);
    pause(milliseconds(100));
    at.network.heal();
  });
}

// What Holdfast has written is gone, wholly or in part.
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
    if (!keys.empty()) at.server.command({"DEL", keys[at.any(keys.size())].text});
  });
}

void server_restart_empty(scene& at) {
  emptied(at, [&at] { while_broken(at, [&at] { at.server.restart(); }); });
  pause(milliseconds(500));
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
      {"unfenced", stop_past_lease, disturbed, false, false, expectation::lost_writes},
  };
  return all;
}

}  // namespace holdfast::faults
