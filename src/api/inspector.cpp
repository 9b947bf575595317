#include <holdfast/inspector.hpp>

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "api/ask.hpp"
#include "api/diagnosis.hpp"
#include "api/registry.hpp"
#include "base/glob.hpp"
#include "base/lock_key.hpp"
#include "dialects/holdfast/inspect.hpp"
#include "net/host_name.hpp"
#include "resp/server_error.hpp"

namespace holdfast {
namespace {

using wall_time = std::chrono::system_clock::time_point;

[[noreturn]] void refuse(const dialects::refused& why) { throw failure{why.code, why.detail}; }

resp::value answer_to(runtime::client_core& core, std::initializer_list<std::string_view> words) {
  auto answer = api::ask(core, words);
  if (answer.is(resp::type::error)) {
    const auto error = resp::classify(answer.text);
    throw failure{error.code, error.detail};
  }
  return answer;
}

void describe(runtime::client_core& core, const dialects::lock_held& held, lock_status& status) {
  status.what = lock_status::state::held;
  status.owner.id = held.owner;
  status.remaining = held.ttl;
  if (held.major != 0) {
    status.token = fencing_token{held.major * dialects::minors_per_major};
    // Majors are drawn from the server's clock, in microseconds.
    status.since = wall_time{std::chrono::microseconds{static_cast<std::int64_t>(held.major)}};
  }
  api::look_up(core, held.client, status.owner);
}

void describe(runtime::client_core& core, dialects::lock_queue queue, lock_status& status) {
  status.waiting = queue.waiting;
  std::map<std::string, holder> known;  // many may be of one client
  for (auto& place : queue.first) {
    auto [client, is_new] = known.try_emplace(place.client);
    if (is_new) api::look_up(core, place.client, client->second);
    waiter one{client->second, wall_time{place.since.time_since_epoch()}};
    one.who.id = std::move(place.owner);
    status.queue.push_back(std::move(one));
  }
}

std::string who_am_i() {
  const char* const user = ::getlogin();
  return std::string(user != nullptr ? user : std::to_string(::getuid())) + "@" + net::host_name() +
         ":" + std::to_string(::getpid());
}

// The name in a key `hf:{N}`; nothing for other keys that match the pattern by chance.
std::optional<std::string> name_in(const std::string& key) {
  constexpr std::string_view before = "hf:{";
  if (!key.starts_with(before) || !key.ends_with('}') || key.size() <= before.size() + 1) {
    return std::nullopt;
  }
  return decode_name(std::string_view(key).substr(before.size(), key.size() - before.size() - 1));
}

}  // namespace

inspector::inspector(client redis) : redis_(std::move(redis)) {}

lock_status inspector::status(std::string_view name) const {
  auto& core = *redis_.core_;
  const lock_key key(name);
  const auto answer = api::ask(core, [&](resp::writer& out) { dialects::write_inspect(key, out); });
  const auto verdict = dialects::read_inspect(answer);
  if (const auto* why = std::get_if<dialects::refused>(&verdict)) refuse(*why);
  lock_status status;
  status.name = key.name();
  if (const auto* foreign = std::get_if<dialects::lock_foreign>(&verdict)) {
    status.what = lock_status::state::foreign;
    status.detail = foreign->detail;
  } else if (const auto* held = std::get_if<dialects::lock_held>(&verdict)) {
    describe(core, *held, status);
  }
  describe(core, dialects::read_queue(answer), status);
  return status;
}

lock_listing inspector::list(std::string_view pattern, std::size_t most,
                             std::size_t most_scanned) const {
  constexpr std::size_t step = 1000;
  auto& core = *redis_.core_;
  std::set<std::string> names;  // SCAN may tell a key twice
  lock_listing listing;
  listing.complete = false;
  std::string cursor = "0";
  for (auto left = most_scanned; left > 0 && !listing.complete && names.size() <= most;) {
    const auto count = std::min(step, left);
    left -= count;
    const auto answer = answer_to(core, {"SCAN", cursor, "MATCH", "hf:{*}", "COUNT",
                                         std::to_string(count), "TYPE", "string"});
    if (answer.items.size() != 2) throw failure{errc::server_error, "SCAN was answered strangely"};
    for (const auto& key : answer.items[1].items) {
      const auto name = name_in(key.text);
      if (name && matches(pattern, *name)) names.insert(*name);
    }
    cursor = answer.items[0].text;
    listing.complete = cursor == "0" && names.size() <= most;
  }
  for (const auto& name : names) {
    if (listing.locks.size() == most) break;
    auto found = status(name);
    if (found.what == lock_status::state::held) listing.locks.push_back(std::move(found));
  }
  return listing;
}

lock_status inspector::break_lock(std::string_view name, std::string_view reason) const {
  auto& core = *redis_.core_;
  const lock_key key(name);
  const auto answer = api::ask(core, [&](resp::writer& out) { dialects::write_break(key, out); });
  const auto verdict = dialects::read_break(key, answer);
  if (const auto* why = std::get_if<dialects::refused>(&verdict)) refuse(*why);
  lock_status broken;
  broken.name = key.name();
  const auto* was = std::get_if<dialects::lock_broken>(&verdict);
  if (was == nullptr) return broken;
  describe(core, {was->major, was->client, was->owner, std::nullopt}, broken);
  const auto by = who_am_i();
  const auto kept = api::ask(core, [&](resp::writer& out) {
    dialects::write_audit({key.name(), was->owner, was->major, by, reason}, out);
  });
  if (kept.is(resp::type::error)) {
    broken.detail = "broken, but the audit entry was refused: " + resp::classify(kept.text).detail;
  }
  return broken;
}

std::vector<finding> inspector::diagnose() const { return api::diagnose(*redis_.core_); }

}  // namespace holdfast
