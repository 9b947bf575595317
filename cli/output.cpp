#include "cli/output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/complaint.hpp"
#include "cli/printable.hpp"

namespace holdfast::cli {
namespace {

using nlohmann::ordered_json;

// Escaped to ASCII, so that no name in it can steer a terminal; never throws for bad UTF-8.
std::string dump(const ordered_json& value, int indent) {
  return value.dump(indent, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

void print_error(bool json, const char* kind, std::string_view code, std::string_view message) {
  const auto text =
      json ? dump({{kind, {{"code", std::string(code)}, {"message", std::string(message)}}}}, -1)
           : fmt::format("holdfast: {}\n", printable_message(message));
  // One write, so that lines of several processes do not mix; nobody is left to tell a failure.
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

std::string what_to_do(const context& shared, const failure& error) {
  const auto& at = shared.connection;
  if (error.reason() != errc::unavailable || at.url_given) return error.what();
  return fmt::format(
      "no server answers at {}; start one, give --url, or try --url embedded:/tmp/holdfast-$USER "
      "(a private server shared by your processes): {}",
      at.url, error.what());
}

void add_share(ordered_json& object, const lock_share& share) {
  if (!share.mode.empty()) object["mode"] = share.mode;
  if (share.permits > 0) object["permits"] = share.permits;
}

ordered_json grant_json(const lock_holding& grant) {
  auto object = to_json(grant.who);
  add_share(object, grant.has);
  if (grant.token) object["token"] = grant.token.to_string();
  const auto since = grant.since ? show_time(*grant.since) : std::string{};
  if (!since.empty()) object["since"] = since;
  if (grant.remaining) object["remaining_ms"] = grant.remaining->count();
  if (!grant.note.empty()) add_text(object, "note", grant.note);
  return object;
}

}  // namespace

const char* name_of(lock_state what) {
  switch (what) {
    case lock_state::free:
      return "free";
    case lock_state::held:
      return "held";
    case lock_state::shut:
      return "shut";
    case lock_state::foreign:
      return "foreign";
  }
  return "unknown";
}

const char* name_of(lock_kind of) {
  switch (of) {
    case lock_kind::unknown:
    case lock_kind::several:
      break;
    case lock_kind::mutex:
      return "mutex";
    case lock_kind::mode_lock:
      return "mode lock";
    case lock_kind::semaphore:
      return "semaphore";
    case lock_kind::latch:
      return "latch";
    case lock_kind::barrier:
      return "barrier";
  }
  return "unknown";
}

const char* name_of(finding::severity level) {
  switch (level) {
    case finding::severity::ok:
      return "ok";
    case finding::severity::warning:
      return "warning";
    case finding::severity::problem:
      break;
  }
  return "problem";
}

std::string table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - width(row[i]) + 2, ' ');
    }
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
  }
  return out;
}

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    throw complaint{output_error, "output",
                    "cannot write the result: " + std::generic_category().message(errno)};
  }
}

void print_json(const ordered_json& value) { print(dump(value, 2)); }

void note(const context& shared, std::string_view code, std::string_view message) {
  print_error(shared.json, "note", code, message);
}

void report_error(bool json, std::string_view code, std::string_view message) {
  print_error(json, "error", code, message);
}

int report_exception(const context& shared, const std::exception& error) {
  if (const auto* known = dynamic_cast<const failure*>(&error)) {
    report_error(shared.json, holdfast::name_of(known->reason()), what_to_do(shared, *known));
    return exit_code_for(known->reason());
  }
  if (const auto* own = dynamic_cast<const complaint*>(&error)) {
    report_error(shared.json, own->name(), own->what());
    return own->code();
  }
  report_error(shared.json, "internal", error.what());
  return internal;
}

void add_text(ordered_json& object, const std::string& key, const std::string& text) {
  object[key] = text;
  if (is_utf8(text)) return;
  auto& hex = object[key + "_hex"] = std::string{};
  for (const unsigned char byte : text) hex.get_ref<std::string&>() += fmt::format("{:02x}", byte);
}

ordered_json to_json(const holder& who) {
  ordered_json object;
  add_text(object, "id", who.id);
  if (!who.foreign_text.empty()) add_text(object, "text", who.foreign_text);
  if (who.host.empty()) return object;
  add_text(object, "host", who.host);
  object["pid"] = who.pid;
  add_text(object, "program", who.program);
  add_text(object, "version", who.version);
  return object;
}

ordered_json to_json(const lock_status& status) {
  ordered_json object;
  add_text(object, "name", status.name);
  object["state"] = name_of(status.state);
  if (!status.detail.empty()) add_text(object, "detail", status.detail);
  if (status.kind != lock_kind::unknown) object["kind"] = name_of(status.kind);
  if (status.permits) object["permits"] = *status.permits;
  if (status.kind == lock_kind::latch) object["to_count_down"] = status.count;
  if (status.kind == lock_kind::barrier) object["parties"] = status.count;
  object["waiting"] = status.waiting;
  for (const auto& one : status.queue) {
    auto entry = to_json(one.who);
    add_share(entry, one.wants);
    if (const auto since = show_time(one.since); !since.empty()) entry["since"] = since;
    object["queue"].push_back(std::move(entry));
  }
  if (status.state != lock_state::held) return object;
  object["owner"] = to_json(status.owner);
  if (status.token) object["token"] = status.token.to_string();
  if (const auto since = show_since(status); !since.empty()) object["since"] = since;
  if (status.remaining) object["remaining_ms"] = status.remaining->count();
  object["holding"] = status.holding;
  if (status.kind == lock_kind::semaphore) object["permits_in_use"] = status.permits_in_use;
  for (const auto& grant : status.holders) object["holders"].push_back(grant_json(grant));
  return object;
}

std::string show_owner(const holder& owner) {
  return printable(owner.host.empty()
                       ? "unknown, id " + owner.id
                       : fmt::format("{}:{} {}", owner.host, owner.pid, owner.program));
}

std::string show_owner(const lock_status& status) {
  return show_owner(status.owner) +
         (status.holding > 1 ? fmt::format(" and {} more", status.holding - 1) : "");
}

std::string show_share(const lock_share& share) {
  if (share.permits > 0) {
    return fmt::format("{} permit{}", share.permits, share.permits == 1 ? "" : "s");
  }
  return share.mode.empty() ? "all" : share.mode;
}

std::string show_time(std::chrono::system_clock::time_point when) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(when.time_since_epoch()).count();
  // A token's major can be any number: years that gmtime cannot tell are left out.
  constexpr std::int64_t year_10000 = 253'402'300'800;
  if (seconds < 0 || seconds >= year_10000) return {};
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string show_now() {
  return show_time(std::chrono::system_clock::from_time_t(std::time(nullptr)));
}

std::string show_since(const lock_status& status) {
  return status.since ? show_time(*status.since) : std::string{};
}

}  // namespace holdfast::cli
