#include "cli/serve/views.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "cli/boot_clock.hpp"
#include "cli/http/request.hpp"
#include "cli/output.hpp"
#include "cli/printable.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

json_view milliseconds_since_1970(const std::optional<look::time_point>& when) {
  if (!when) return nullptr;
  return std::chrono::floor<milliseconds>(when->time_since_epoch()).count();
}

json_view count_or_null(const std::optional<milliseconds>& time) {
  if (!time) return nullptr;
  return time->count();
}

json_view token_or_null(fencing_token token) {
  if (!token) return nullptr;
  return token.to_string();
}

json_view age_of(const look& seen) { return (boot_time() - seen.done_at).count(); }

void add_client(json_view& object, const holder& who) {
  object["id"] = as_utf8(who.id);
  object["host"] = as_utf8(who.host);
  object["pid"] = who.pid == 0 ? json_view(nullptr) : json_view(who.pid);
  object["program"] = as_utf8(who.program);
  object["version"] = as_utf8(who.version);
}

json_view client_json(const holder& who) {
  json_view object;
  add_client(object, who);
  return object;
}

json_view names_json(const std::vector<std::string>& names) {
  auto all = json_view::array();
  for (const auto& name : names) all.push_back(as_utf8(name));
  return all;
}

void add_share(json_view& object, const lock_share& share) {
  object["mode"] = share.mode;
  object["permits"] = share.permits;
}

json_view oldest_wait(const lock_status& lock) {
  if (!lock.now || lock.queue.empty()) return nullptr;
  const auto first = std::ranges::min(lock.queue, {}, &waiter::since).since;
  return std::max(milliseconds{0}, std::chrono::floor<milliseconds>(*lock.now - first)).count();
}

json_view lock_json(const lock_status& lock) {
  const bool is_held = lock.state == lock_state::held;
  return {{"name", as_utf8(lock.name)},
          {"name_url", http::percent_encoded(lock.name)},
          {"state", name_of(lock.state)},
          {"kind", name_of(lock.kind)},
          {"dialect", as_utf8(lock.dialect)},
          {"holding", lock.holding},
          {"waiting", lock.waiting},
          {"permits", lock.permits ? json_view(*lock.permits) : json_view(nullptr)},
          {"permits_in_use", lock.permits_in_use},
          {"count", lock.count},
          {"owner", is_held ? client_json(lock.owner) : json_view(nullptr)},
          {"token", token_or_null(lock.token)},
          {"since_ms", milliseconds_since_1970(lock.since)},
          {"remaining_ms", count_or_null(lock.remaining)},
          {"oldest_wait_ms", oldest_wait(lock)},
          {"detail", as_utf8(lock.detail)}};
}

json_view holders_json(const lock_status& lock) {
  auto all = json_view::array();
  for (const auto& one : lock.holders) {
    auto& object = all.emplace_back(json_view{{"client", client_json(one.who)}});
    add_share(object, one.has);
    object["token"] = token_or_null(one.token);
    object["since_ms"] = milliseconds_since_1970(one.since);
    object["remaining_ms"] = count_or_null(one.remaining);
    object["note"] = as_utf8(one.note);
  }
  return all;
}

json_view queue_json(const lock_status& lock) {
  auto all = json_view::array();
  for (const auto& one : lock.queue) {
    auto& object = all.emplace_back(json_view{{"client", client_json(one.who)}});
    add_share(object, one.wants);
    object["since_ms"] = milliseconds_since_1970(one.since);
  }
  return all;
}

json_view history_json(const std::vector<lock_event>& events) {
  auto all = json_view::array();
  for (const auto& one : events) {
    const bool has_owner = !one.owner.id.empty();
    all.push_back({{"at_ms", milliseconds_since_1970(one.at)},
                   {"what", one.what},
                   {"owner", has_owner ? client_json(one.owner) : json_view(nullptr)},
                   {"token", token_or_null(one.token)}});
  }
  return all;
}

json_view unseen_json(const look& seen) {
  auto all = json_view::array();
  for (const auto* some : {&seen.locks.unseen, &seen.unseen_clients}) {
    for (const auto& one : *some) {
      all.push_back({{"name", as_utf8(one.name)},
                     {"server", as_utf8(one.server)},
                     {"why", as_utf8(one.why)}});
    }
  }
  return all;
}

}  // namespace

json_view server_view(const watched_server& server) {
  const auto what = server.now();
  const look nothing;
  const auto& seen = what.last == nullptr ? nothing : *what.last;
  const bool known = what.last != nullptr;
  const auto if_known = [&](json_view value) { return known ? value : json_view(nullptr); };
  return {{"name", server.name()},
          {"address", server.address()},
          {"up", what.up},
          {"error", what.error.empty() ? json_view(nullptr) : json_view(as_utf8(what.error))},
          {"looked_ms", if_known(milliseconds_since_1970(seen.seen_at))},
          {"age_ms", if_known(age_of(seen))},
          {"now_ms", milliseconds_since_1970(seen.now)},
          {"locks", seen.locks.locks.size()},
          {"waiters", seen.waiters},
          {"clients", seen.clients.size()},
          {"locks_complete", known && seen.locks.complete},
          {"clients_complete", known && seen.clients_complete},
          {"unseen", unseen_json(seen)}};
}

json_view locks_view(const watched_server& server, const look& seen, const lock_query& wanted) {
  const auto found = find_locks(seen.locks.locks, wanted);
  json_view view = {{"server", server.name()},    {"now_ms", milliseconds_since_1970(seen.now)},
                    {"age_ms", age_of(seen)},     {"complete", seen.locks.complete},
                    {"total", found.total},       {"page", wanted.page},
                    {"pages", found.pages},       {"per_page", wanted.per_page},
                    {"locks", json_view::array()}};
  for (const auto* lock : found.locks) view["locks"].push_back(lock_json(*lock));
  return view;
}

json_view lock_view_of(const watched_server& server, const lock_status& lock) {
  auto object = lock_json(lock);
  object["holders"] = holders_json(lock);
  object["queue"] = queue_json(lock);
  return {{"server", server.name()},
          {"now_ms", milliseconds_since_1970(lock.now)},
          {"lock", std::move(object)},
          {"history", history_json(server.events(lock.name))}};
}

json_view clients_view(const watched_server& server, const look& seen) {
  constexpr std::size_t most = 10'000;
  const auto shown = std::min(seen.clients.size(), most);
  json_view view = {{"server", server.name()},
                    {"complete", seen.clients_complete && shown == seen.clients.size()},
                    {"clients", json_view::array()}};
  for (const auto& one : std::span(seen.clients).first(shown)) {
    auto object = client_json(one.who);
    object["holds"] = names_json(one.holds);
    object["waits"] = names_json(one.waits);
    object["holding"] = one.holding;
    object["waiting"] = one.waiting;
    view["clients"].push_back(std::move(object));
  }
  return view;
}

json_view waits_view(const watched_server& server, const look& seen) {
  json_view view = {{"server", server.name()},
                    {"nodes", json_view::array()},
                    {"edges", json_view::array()},
                    {"cycles", json_view::array()},
                    {"complete", seen.waits.complete && seen.locks.complete}};
  for (const auto& node : seen.waits.nodes) view["nodes"].push_back(client_json(node));
  for (const auto& edge : seen.waits.edges) {
    view["edges"].push_back(
        {{"from", as_utf8(edge.from)}, {"to", as_utf8(edge.to)}, {"lock", as_utf8(edge.lock)}});
  }
  for (const auto& cycle : seen.waits.cycles) view["cycles"].push_back(names_json(cycle));
  return view;
}

json_view doctor_view(const watched_server& server, const diagnosis& health) {
  json_view view = {{"server", server.name()},
                    {"findings", json_view::array()},
                    {"age_ms", (boot_time() - health.done_at).count()}};
  for (const auto& one : health.findings) {
    view["findings"].push_back({{"severity", name_of(one.level)},
                                {"check", one.check},
                                {"detail", as_utf8(one.detail)},
                                {"remedy", as_utf8(one.remedy)}});
  }
  return view;
}

std::string text_of(const json_view& view) {
  return view.dump(-1, ' ', false, json_view::error_handler_t::replace) + "\n";
}

}  // namespace holdfast::cli
