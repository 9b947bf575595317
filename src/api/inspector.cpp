#include <holdfast/inspector.hpp>

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>

#include "api/ask.hpp"
#include "api/audit.hpp"
#include "api/diagnosis.hpp"
#include "api/key_scan.hpp"
#include "api/once.hpp"
#include "api/registry.hpp"
#include "api/survey.hpp"
#include "base/glob.hpp"
#include "base/lock_key.hpp"
#include "dialects/holdfast/inspect.hpp"
#include "dialects/holdfast/layout.hpp"

namespace holdfast {
namespace {

using api::known_clients;
using wall_time = std::chrono::system_clock::time_point;

[[noreturn]] void refuse(const dialects::refused& why) { throw failure{why.code, why.detail}; }

lock_share show(const dialects::share& share) {
  if (share.mode == 's') return {.mode = {}, .permits = share.weight};
  return {.mode = std::string(dialects::name_of_mode(share.mode))};
}

lock_holding grant_of(dialects::token_major major, holder who, server_time now) {
  lock_holding grant{.who = std::move(who)};
  if (major == 0) return grant;
  grant.token = fencing_token{major * dialects::minors_per_major};
  grant.since = dialects::granted_at(major, now);
  return grant;
}

void add(lock_holding grant, lock_status& status) {
  if (status.holders.empty()) {
    status.what = lock_status::state::held;
    status.owner = grant.who;
    status.token = grant.token;
    status.remaining = grant.remaining;
    status.since = grant.since;
  }
  status.holders.push_back(std::move(grant));
}

void describe(const dialects::lock_held& held, known_clients& known, lock_status& status) {
  auto grant = grant_of(held.major, known.who(held.client, held.owner), held.now);
  grant.remaining = held.ttl;
  status.of = lock_status::kind::mutex;
  status.holding = 1;
  add(std::move(grant), status);
}

void describe(const dialects::shared_holder& held, known_clients& known, lock_status& status,
              server_time now = server_time::max()) {
  auto grant = grant_of(held.major, known.who(held.client, held.owner), now);
  grant.has = show(held.has);
  add(std::move(grant), status);
}

lock_status::kind kind_of(char family) {
  return family == 's' ? lock_status::kind::semaphore : lock_status::kind::mode_lock;
}

void describe(const dialects::lock_shared& held, known_clients& known, lock_status& status) {
  for (const auto& one : held.holders) {
    describe(one, known, status, held.now);
    status.holders.back().remaining =
        std::chrono::duration_cast<std::chrono::milliseconds>(one.until - held.now);
  }
  status.remaining = status.holders.front().remaining;
  status.of = kind_of(held.family);
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
  if (status.of != lock_status::kind::unknown || queue.first.empty()) return;
  switch (queue.whose) {
    case dialects::family::latch:
      status.of = lock_status::kind::latch;
      return;
    case dialects::family::barrier:
      status.of = lock_status::kind::barrier;
      return;
    case dialects::family::several:
      status.of = kind_of(queue.first.front().wants.mode);
      return;
    case dialects::family::mutex:
    case dialects::family::none:
      status.of = lock_status::kind::mutex;
  }
}

// Takes it from all who have it; their state.
lock_status take_away(runtime::client_core& core, const lock_key& key) {
  lock_status broken;
  broken.name = key.name();
  known_clients known(core);
  const auto plain = dialects::read_break(
      key, api::ask_in_time(core, key.slot(), [&](resp::writer& out, server_time not_after) {
        dialects::write_break(key, not_after, out);
      }));
  if (const auto* was = std::get_if<dialects::lock_broken>(&plain)) {
    describe(dialects::lock_held{.major = was->major,
                                 .client = was->client,
                                 .owner = was->owner,
                                 .ttl = std::nullopt,
                                 .now = server_time::max()},
             known, broken);
    return broken;
  }
  const auto* why = std::get_if<dialects::refused>(&plain);
  if (why == nullptr) return broken;
  // What is no mutex may be a lock that several hold.
  if (why->code != errc::foreign_key) refuse(*why);
  const auto shared = dialects::read_break_shared(
      key, api::ask_in_time(core, key.slot(), [&](resp::writer& out, server_time not_after) {
        dialects::write_break_shared(key, not_after, out);
      }));
  if (const auto* refusal = std::get_if<dialects::refused>(&shared)) refuse(*refusal);
  if (const auto* was = std::get_if<dialects::shared_broken>(&shared)) {
    constexpr std::size_t most = 100;
    for (const auto& one : was->holders) {
      if (broken.holders.size() == most) break;
      describe(one, known, broken);
      broken.of = kind_of(one.has.mode);
      broken.permits_in_use += broken.holders.back().has.permits;
    }
    broken.holding = was->count;
  }
  return broken;
}

lock_status status_of(runtime::client_core& core, const lock_key& key, known_clients& known) {
  const auto answer =
      api::ask(core, key.slot(), [&](resp::writer& out) { dialects::write_inspect(key, out); });
  const auto verdict = dialects::read_inspect(answer);
  if (const auto* why = std::get_if<dialects::refused>(&verdict)) refuse(*why);
  lock_status status;
  status.name = key.name();
  if (const auto* foreign = std::get_if<dialects::lock_foreign>(&verdict)) {
    status.what = lock_status::state::foreign;
    status.detail = foreign->detail;
  } else if (const auto* held = std::get_if<dialects::lock_held>(&verdict)) {
    describe(*held, known, status);
  } else if (const auto* shared = std::get_if<dialects::lock_shared>(&verdict)) {
    describe(*shared, known, status);
  } else if (const auto* gate = std::get_if<dialects::lock_gate>(&verdict)) {
    status.what = lock_status::state::shut;
    status.of = gate->family == 'l' ? lock_status::kind::latch : lock_status::kind::barrier;
    status.count = gate->count;
  }
  describe(dialects::read_queue(answer), known, status);
  return status;
}

}  // namespace

inspector::inspector(client redis) : redis_(std::move(redis)) {}

lock_status inspector::status(std::string_view name) const {
  auto& core = *redis_.core_;
  known_clients known(core);
  return status_of(core, core.engine().key_of(name), known);
}

lock_listing inspector::list(std::string_view pattern, std::size_t most,
                             std::size_t most_scanned) const {
  auto& core = *redis_.core_;
  api::key_scan scan{core, most_scanned};
  const auto of_locks = core.engine().space().named("{*}");
  std::set<std::string> names;  // SCAN may tell a key twice
  const auto take = [&](const std::vector<std::string>& keys) {
    for (const auto& key : keys) {
      const auto name = name_in(core.engine().space(), key);
      if (name && matches(pattern, *name)) names.insert(*name);
    }
    return names.size() <= most;
  };
  lock_listing listing;
  api::survey survey{core};
  survey.each_server([&](redis::connection& over) {
    if (!scan.walk(over, of_locks, take)) listing.complete = false;
  });
  listing.complete = listing.complete && names.size() <= most;
  known_clients known(core);
  for (const auto& name : names) {
    if (listing.locks.size() == most) break;
    const auto key = core.engine().key_of(name);
    survey.look(name, key.slot(), [&] {
      auto found = status_of(core, key, known);
      const bool is_shown =
          found.what == lock_status::state::held || found.what == lock_status::state::shut;
      if (is_shown) listing.locks.push_back(std::move(found));
    });
  }
  listing.unseen = survey.unseen();
  if (!listing.unseen.empty()) listing.complete = false;
  return listing;
}

lock_status inspector::break_lock(std::string_view name, std::string_view reason) const {
  auto& core = *redis_.core_;
  const auto key = core.engine().key_of(name);
  auto broken = take_away(core, key);
  api::record_break(core, reason, broken);
  return broken;
}

std::vector<finding> inspector::diagnose() const { return api::diagnose(redis_, *redis_.core_); }

}  // namespace holdfast
