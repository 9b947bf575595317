// holdfast audit NAME|PATTERN: who had locks, and how that ended.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include <holdfast/inspector.hpp>

#include "cli/commands.hpp"
#include "cli/duration.hpp"
#include "cli/lock_table.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "cli/printable.hpp"

namespace holdfast::cli {
namespace {

struct audit_options {
  std::optional<std::string> pattern;
  std::chrono::milliseconds since = std::chrono::hours{24};
};

const char* name_of(grant_end how) {
  switch (how) {
    case grant_end::held:
      return "held";
    case grant_end::released:
      return "released";
    case grant_end::lost:
      return "lost";
    case grant_end::broken:
      return "broken";
    case grant_end::expired:
      return "expired";
    case grant_end::unknown:
      break;
  }
  return "unknown";
}

std::string show(const std::optional<std::chrono::system_clock::time_point>& when) {
  return when ? show_time(*when) : std::string{};
}

nlohmann::ordered_json record_json(const audit_record& one) {
  nlohmann::ordered_json object;
  add_text(object, "name", one.name);
  add_text(object["owner"], "id", one.who.id);
  if (!one.who.host.empty()) {
    add_text(object["owner"], "host", one.who.host);
    object["owner"]["pid"] = one.who.pid;
    add_text(object["owner"], "program", one.who.program);
  }
  if (one.token) object["token"] = one.token.to_string();
  if (const auto when = show(one.granted); !when.empty()) object["granted"] = when;
  if (const auto when = show(one.ended); !when.empty()) object["ended"] = when;
  object["how"] = name_of(one.how);
  if (!one.by.empty()) add_text(object, "by", one.by);
  if (!one.reason.empty()) add_text(object, "reason", one.reason);
  return object;
}

nlohmann::ordered_json report_json(const audit_report& found) {
  nlohmann::ordered_json all = {{"complete", found.complete},
                                {"missed", found.missed},
                                {"records", nlohmann::ordered_json::array()}};
  for (const auto& one : found.records) all["records"].push_back(record_json(one));
  return all;
}

std::string report_table(const audit_report& found) {
  table rows(
      {"NAME", "HOST", "PID", "PROGRAM", "TOKEN", "GRANTED", "ENDED", "HOW", "BY", "REASON"});
  for (const auto& one : found.records) {
    std::vector<std::string> cells = {printable(one.name)};
    add_who(one.who, cells);
    cells.insert(cells.end(), {one.token.to_string(), show(one.granted), show(one.ended),
                               name_of(one.how), printable(one.by), printable(one.reason)});
    rows.add(std::move(cells));
  }
  return rows.text();
}

void tell_what_is_missing(const audit_report& found, const context& shared) {
  if (found.missed > 0) {
    note(shared, "incomplete",
         fmt::format("clients dropped {} entries: they had too many at once, or the server refused "
                     "them",
                     found.missed));
  } else {
    note(shared, "incomplete",
         "the trail does not reach back so far: the server keeps the last entries only");
  }
}

int audit(const audit_options& options, const context& shared) {
  const inspector look{shared.connection.connect()};
  const auto found = look.audit(*options.pattern, options.since);
  if (shared.json) {
    print_json(report_json(found));
  } else {
    print(report_table(found));
    if (found.records.empty()) {
      note(shared, "empty",
           "nothing is recorded: the trail of a lock is kept by clients with --audit, "
           "HOLDFAST_AUDIT or client_options::audit");
    }
    if (!found.complete) tell_what_is_missing(found, shared);
  }
  return found.complete ? success : incomplete_list;
}

}  // namespace

void add_audit(CLI::App& program, context& shared) {
  using namespace std::chrono_literals;
  auto* const command = program.add_subcommand("audit", "Show who had locks, and how that ended");
  const auto options = std::make_shared<audit_options>();
  command
      ->add_option("PATTERN", options->pattern,
                   "A name, or names with *, ? and [...] as in a shell; put one like -x* after --")
      ->type_name("");
  add_duration(*command, "--since", options->since, "How far to look back", {0ms, 24h * 365});
  command->footer(
      "Tells of locks whose holders keep an audit trail: `holdfast run --audit PATTERN`, or\n"
      "client_options::audit. Who broke a lock is known without.\n\n"
      "Examples:\n"
      "  holdfast audit nightly\n"
      "  holdfast audit 'orders:*' --since 2h --json");
  command->callback([options, &shared] {
    take_dashed_pattern(options->pattern, shared);
    if (!options->pattern) throw CLI::RequiredError("NAME or PATTERN");
    shared.action = [options, &shared] { return audit(*options, shared); };
  });
}

}  // namespace holdfast::cli
