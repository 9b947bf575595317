#include "cli/serve/serve_site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "cli/boot_clock.hpp"
#include "cli/exposition.hpp"
#include "cli/printable.hpp"
#include "cli/serve/page_file.hpp"
#include "cli/serve/server_metrics.hpp"

namespace holdfast::cli {
namespace {

using http::answer;

struct refused {
  answer said;
};

answer json_answer(const json_view& view) {
  return {.type = "application/json", .body = text_of(view)};
}

std::shared_ptr<const look> seen_at(const watched_server& server) {
  auto what = server.now();
  if (what.last == nullptr) {
    throw refused{http::problem(
        503, fmt::format("{} was not seen yet: {}", server.name(), printable_message(what.error)))};
  }
  return what.last;
}

answer doctor(const watched_server& server) {
  if (!server.has_doctor()) return http::problem(404, "the doctor is off: start with --doctor");
  const auto what = server.now();
  if (what.health == nullptr) return http::problem(503, "the doctor is not done yet");
  return json_answer(doctor_view(server, *what.health));
}

// Of a failure to look at one lock.
answer failed_look(const failure& why) {
  const auto reason = why.reason();
  const bool is_late = reason == errc::unavailable || reason == errc::timed_out;
  if (reason == errc::invalid_name) return http::problem(400, why.what());
  return http::problem(is_late ? 504 : 502, printable_message(why.what()));
}

}  // namespace

std::optional<answer> serve_site::get(const http::request& asked, http::answer_later later) {
  constexpr std::string_view api_root = "/api/v1/";
  const std::string_view path = asked.path;
  try {
    if (path == "/healthz") return health();
    if (path == "/readyz") return readiness();
    if (path == "/metrics") {
      return answer{.type = exposition::content_type, .body = server_metrics(servers_)};
    }
    if (path.starts_with(api_root)) {
      return api(path.substr(api_root.size()), asked, std::move(later));
    }
    if (const auto* const file = find_page_file(path)) {
      return answer{.type = std::string(file->type), .body = std::string(file->content)};
    }
  } catch (const refused& why) {
    return why.said;
  } catch (const std::invalid_argument& why) {
    return http::problem(400, why.what());
  }
  return http::problem(404, "there is nothing here");
}

answer serve_site::health() const {
  for (const auto& server : servers_) {
    if (boot_time() - server->now().beat > server->stuck_after()) {
      return http::plain(503, fmt::format("the thread that looks at {} is stuck", server->name()));
    }
  }
  return http::plain(200, "ok");
}

answer serve_site::readiness() const {
  std::string late;
  for (const auto& server : servers_) {
    const auto what = server->now();
    if (server->is_fresh(what)) continue;
    late += fmt::format(
        "{}{}: {}", late.empty() ? "" : "\n", server->name(),
        what.error.empty() ? "the last look is too old" : printable_message(what.error));
  }
  return late.empty() ? http::plain(200, "ok") : http::plain(503, late);
}

answer serve_site::servers() const {
  json_view view = {{"servers", json_view::array()}};
  for (const auto& server : servers_) view["servers"].push_back(server_view(*server));
  return json_answer(view);
}

std::optional<answer> serve_site::api(std::string_view path, const http::request& asked,
                                      http::answer_later later) {
  constexpr std::string_view one_of_locks = "locks/";
  if (path == "servers") return servers();
  auto& server = chosen(asked);
  if (path.starts_with(one_of_locks)) {
    return one_lock(server, path.substr(one_of_locks.size()), std::move(later));
  }
  if (path == "locks") {
    return made_aside(
        [&server, seen = seen_at(server), wanted = parse_lock_query(asked.query)] {
          return locks_view(server, *seen, wanted);
        },
        later);
  }
  if (path == "clients") {
    return made_aside([&server, seen = seen_at(server)] { return clients_view(server, *seen); },
                      later);
  }
  if (path == "waits") {
    return made_aside([&server, seen = seen_at(server)] { return waits_view(server, *seen); },
                      later);
  }
  if (path == "doctor") return doctor(server);
  return http::problem(404, "the API has servers, locks, locks/NAME, clients, waits and doctor");
}

std::optional<answer> serve_site::made_aside(std::function<json_view()> make,
                                             const http::answer_later& later) {
  const auto job = [make = std::move(make), later, until = boot_time() + http::for_an_answer] {
    if (boot_time() > until) return;  // nobody waits for it any more
    try {
      later(json_answer(make()));
    } catch (const std::exception& error) {  // no memory, for example
      later(http::problem(500, error.what()));
    }
  };
  if (makers_.take(job)) return std::nullopt;
  return http::problem(503, "too many answers are being made: try again");
}

std::optional<answer> serve_site::one_lock(watched_server& server, std::string_view name_url,
                                           http::answer_later later) {
  const auto name = http::percent_decoded(name_url).value_or("");
  if (!server.shows(name)) {
    return http::problem(404, "names that do not match --pattern are not shown");
  }
  if (auto known = server.seen_of_another_library(name)) {
    return json_answer(lock_view_of(server, *known));
  }
  const auto tell = [&server, later = std::move(later)](result<lock_status> found) {
    later(found ? json_answer(lock_view_of(server, *found)) : failed_look(found.error()));
  };
  if (!server.ask(name, tell)) {
    return http::problem(503, "too many locks are being looked at: try again");
  }
  return std::nullopt;
}

watched_server& serve_site::chosen(const http::request& asked) const {
  const auto wanted = asked.query.find("server");
  if (wanted == asked.query.end() || wanted->second.empty()) return *servers_.front();
  const auto found =
      std::ranges::find(servers_, wanted->second, [](const auto& one) { return one->name(); });
  if (found == servers_.end()) throw refused{http::problem(404, "there is no such server")};
  return **found;
}

}  // namespace holdfast::cli
