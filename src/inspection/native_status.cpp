#include "inspection/native_status.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <holdfast/errc.hpp>

#include "inspection/key_scan.hpp"
#include "redis/calls/ask.hpp"
#include "redis/calls/idempotent_call.hpp"
#include "redis/dialects/holdfast/client_registry.hpp"
#include "redis/dialects/holdfast/inspect.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::inspection {
namespace {

using wall_time = std::chrono::system_clock::time_point;

[[noreturn]] void refuse(const substrate::refused& why) { throw failure{why.code, why.detail}; }

lock_share show(const dialects::share& share) {
  if (share.mode == 's') return {.mode = {}, .permits = share.weight};
  return {.mode = std::string(dialects::name_of_mode(share.mode))};
}

lock_holding grant_of(substrate::token_major major, holder who, server_time now,
                      dialects::counted_grant last) {
  lock_holding grant{.who = std::move(who)};
  if (major == 0) return grant;
  grant.token = fencing_token{major * substrate::minors_per_major};
  grant.since = dialects::granted_at(major, now, last);
  return grant;
}

void add(lock_holding grant, lock_status& status) {
  if (status.holders.empty()) {
    status.state = lock_state::held;
    status.owner = grant.who;
    status.token = grant.token;
    status.remaining = grant.remaining;
    status.since = grant.since;
  }
  status.holders.push_back(std::move(grant));
}

void describe(const dialects::lock_held& held, known_clients& known, lock_status& status) {
  auto grant = grant_of(held.major, known.who(held.client, held.owner), held.now, held.last);
  grant.remaining = held.ttl;
  status.kind = lock_kind::mutex;
  status.holding = 1;
  add(std::move(grant), status);
}

void describe(const dialects::shared_holder& held, known_clients& known, lock_status& status,
              server_time now = server_time::max(), dialects::counted_grant last = {}) {
  auto grant = grant_of(held.major, known.who(held.client, held.owner), now, last);
  grant.has = show(held.has);
  add(std::move(grant), status);
}

lock_kind kind_of(char family) {
  return family == 's' ? lock_kind::semaphore : lock_kind::mode_lock;
}

void describe(const dialects::lock_shared& held, known_clients& known, lock_status& status) {
  for (const auto& one : held.holders) {
    describe(one, known, status, held.now, held.last);
    status.holders.back().remaining =
        std::chrono::duration_cast<std::chrono::milliseconds>(one.until - held.now);
  }
  status.remaining = status.holders.front().remaining;
  status.kind = kind_of(held.family);
  status.holding = held.count;
  status.permits_in_use = held.in_use;
}

void describe(dialects::lock_queue queue, known_clients& known, lock_status& status) {
  status.waiting = queue.waiting;
  status.permits = queue.permits;
  for (auto& place : queue.first) {
    waiter one{known.who(place.client, std::move(place.owner)),
               wall_time{place.since.time_since_epoch()}, show(place.wants)};
    status.queue.push_back(std::move(one));
  }
  if (status.kind != lock_kind::unknown || queue.first.empty()) return;
  switch (queue.whose) {
    case substrate::family::latch:
      status.kind = lock_kind::latch;
      return;
    case substrate::family::barrier:
      status.kind = lock_kind::barrier;
      return;
    case substrate::family::several:
      status.kind = kind_of(queue.first.front().wants.mode);
      return;
    case substrate::family::mutex:
    case substrate::family::none:
      status.kind = lock_kind::mutex;
  }
}

// What the server says of a lock.
struct sight {
  dialects::inspect_verdict what;
  dialects::lock_queue queue;
  std::optional<server_time> now;
};

sight read_sight(const resp::value& answer) {
  sight seen{dialects::read_inspect(answer), dialects::read_queue(answer),
             dialects::time_of_inspect(answer)};
  if (const auto* why = std::get_if<substrate::refused>(&seen.what)) refuse(*why);
  return seen;
}

void add_holders(const sight& seen, std::vector<known_clients::wanted>& clients) {
  if (const auto* held = std::get_if<dialects::lock_held>(&seen.what)) {
    clients.push_back({held->client});
  } else if (const auto* shared = std::get_if<dialects::lock_shared>(&seen.what)) {
    for (const auto& one : shared->holders) clients.push_back({one.client});
  }
}

void add_clients(const sight& seen, std::vector<known_clients::wanted>& clients) {
  add_holders(seen, clients);
  for (const auto& place : seen.queue.first) clients.push_back({place.client});
}

// Each client once, with the notes of its grants.
std::vector<known_clients::wanted> with_notes(const sight& seen, const lock_key& key) {
  std::map<std::string, std::vector<std::string>> notes;
  const auto add = [&](const std::string& client, substrate::token_major major) {
    notes[client].push_back(dialects::note_field(key, major));
  };
  if (const auto* held = std::get_if<dialects::lock_held>(&seen.what)) {
    add(held->client, held->major);
  } else if (const auto* shared = std::get_if<dialects::lock_shared>(&seen.what)) {
    for (const auto& one : shared->holders) add(one.client, one.major);
  }
  for (const auto& place : seen.queue.first) notes.try_emplace(place.client);
  std::vector<known_clients::wanted> all;
  for (auto& [client, fields] : notes) all.push_back({client, std::move(fields)});
  return all;
}

resp::value inspect(runtime::client_core& core, const lock_key& key,
                    const redis_locks::bound& within = {}) {
  const auto query = [&](resp::writer& out) { dialects::write_inspect(key, out); };
  return calls::ask(core, key.slot(), query, within);
}

// `known` has learnt the clients.
lock_status show(sight seen, const lock_key& key, known_clients& known) {
  lock_status status;
  status.name = key.name();
  if (seen.now) status.now = wall_time{seen.now->time_since_epoch()};
  if (const auto* foreign = std::get_if<dialects::lock_foreign>(&seen.what)) {
    status.state = lock_state::foreign;
    status.detail = foreign->detail;
  } else if (const auto* held = std::get_if<dialects::lock_held>(&seen.what)) {
    describe(*held, known, status);
  } else if (const auto* shared = std::get_if<dialects::lock_shared>(&seen.what)) {
    describe(*shared, known, status);
  } else if (const auto* gate = std::get_if<dialects::lock_gate>(&seen.what)) {
    status.state = lock_state::shut;
    status.kind = gate->family == 'l' ? lock_kind::latch : lock_kind::barrier;
    status.count = gate->count;
  }
  describe(std::move(seen.queue), known, status);
  return status;
}

// `known` has learnt them.
void add_notes(const sight& seen, const lock_key& key, const known_clients& known,
               lock_status& status) {
  if (const auto* held = std::get_if<dialects::lock_held>(&seen.what)) {
    status.holders.front().note =
        known.note_of(held->client, dialects::note_field(key, held->major));
  } else if (const auto* shared = std::get_if<dialects::lock_shared>(&seen.what)) {
    for (std::size_t i = 0; i < status.holders.size(); ++i) {
      const auto& one = shared->holders[i];
      status.holders[i].note = known.note_of(one.client, dialects::note_field(key, one.major));
    }
  }
}

bool is_shown(const lock_status& found) {
  return found.state == lock_state::held || found.state == lock_state::shut;
}

}  // namespace

lock_status break_native(runtime::client_core& core, const lock_key& key) {
  lock_status broken;
  broken.name = key.name();
  known_clients known(core);
  // First: a holder that hears of the break may end, and the registry knows it no more.
  std::vector<known_clients::wanted> holders;
  add_holders(read_sight(inspect(core, key)), holders);
  known.learn(holders);
  const auto plain = dialects::read_break(
      key, calls::ask_in_time(core, key.slot(), [&](resp::writer& out, server_time not_after) {
        dialects::write_break(key, not_after, out);
      }));
  if (const auto* was = std::get_if<dialects::lock_broken>(&plain)) {
    describe(dialects::lock_held{.major = was->major,
                                 .client = was->client,
                                 .owner = was->owner,
                                 .ttl = std::nullopt,
                                 .now = server_time::max(),
                                 .last = {}},
             known, broken);
    return broken;
  }
  const auto* why = std::get_if<substrate::refused>(&plain);
  if (why == nullptr) return broken;
  // A key that is no mutex may be a lock that several hold.
  if (why->code != errc::foreign_key) refuse(*why);
  const auto shared = dialects::read_break_shared(
      key, calls::ask_in_time(core, key.slot(), [&](resp::writer& out, server_time not_after) {
        dialects::write_break_shared(key, not_after, out);
      }));
  if (const auto* refusal = std::get_if<substrate::refused>(&shared)) refuse(*refusal);
  if (const auto* was = std::get_if<dialects::shared_broken>(&shared)) {
    constexpr std::size_t most = 100;
    for (const auto& one : was->holders) {
      if (broken.holders.size() == most) break;
      describe(one, known, broken);
      broken.kind = kind_of(one.has.mode);
      broken.permits_in_use += broken.holders.back().has.permits;
    }
    broken.holding = was->count;
  }
  return broken;
}

lock_status status_of(runtime::client_core& core, const lock_key& key, known_clients& known,
                      const redis_locks::bound& within) {
  const auto seen = read_sight(inspect(core, key, within));
  known.learn(with_notes(seen, key));
  auto status = show(seen, key, known);
  add_notes(seen, key, known, status);
  return status;
}

void shown_locks::look_at(lock_names& names, std::size_t most) {
  constexpr std::size_t least_at_once = 32, most_at_once = 256;
  const auto due = names.take();
  for (std::span<const std::string> rest(due); !rest.empty() && locks_.size() <= most;) {
    check_stop(options_);
    // Not many more than are wanted, if all are held.
    const auto wanted = std::clamp(most - locks_.size(), least_at_once, most_at_once);
    const auto now = rest.first(std::min(wanted, rest.size()));
    look_at(now);
    rest = rest.subspan(now.size());
  }
}

void shown_locks::look_at(std::span<const std::string> names) {
  std::vector<lock_key> keys;
  for (const auto& name : names) {
    auto key = redis_locks::engine_of(core_).key_of(name);
    if (survey_.may_look(name, key.slot())) keys.push_back(std::move(key));
  }
  std::vector<calls::question> questions;
  for (const auto& key : keys) {
    questions.push_back({.slot = key.slot(), .write = [&key](resp::writer& out) {
                           dialects::write_inspect(key, out);
                         }});
  }
  asked_.ask(questions);
  std::vector<std::pair<const lock_key*, sight>> seen;
  std::vector<known_clients::wanted> clients;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    survey_.look(keys[i].name(), keys[i].slot(), [&] {
      seen.emplace_back(&keys[i], read_sight(questions[i].take()));
      add_clients(seen.back().second, clients);
    });
  }
  known_.learn(clients);
  for (auto& [key, what] : seen) {
    if (auto found = show(std::move(what), *key, known_); is_shown(found)) {
      locks_.push_back(std::move(found));
    }
  }
}

bool shown_locks::are_more_than(std::size_t most, lock_names& names) {
  if (locks_.size() + names.untaken() > most) look_at(names, most);
  return locks_.size() > most;
}

void finish(lock_listing& listing, const list_options& options, survey& over) {
  std::ranges::stable_sort(listing.locks, {}, &lock_status::name);
  if (listing.locks.size() > options.most) {
    listing.locks.resize(options.most);
    listing.cut_short = true;
  }
  listing.unseen = over.unseen();
  if (!listing.unseen.empty()) listing.cut_short = true;
  listing.complete = !listing.cut_short && !listing.indexed;
}

}  // namespace holdfast::inspection
