// holdfast doctor: whether a server, or a quorum of them, is fit for Holdfast.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include <holdfast/errc.hpp>
#include <holdfast/quorum_inspector.hpp>

#include "cli/commands.hpp"
#include "cli/duration.hpp"
#include "cli/next_look.hpp"
#include "cli/output.hpp"
#include "cli/printable.hpp"
#include "cli/quorum_choice.hpp"
#include "cli/repeated_diagnosis.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using severity = finding::severity;

struct doctor_options {
  quorum_choice quorum;
  bool watches = false;
  std::chrono::milliseconds interval = 1min;
};

std::string as_table(const std::vector<finding>& findings) {
  table rows({"CHECK", "RESULT", "FOUND"});
  for (const auto& found : findings) {
    rows.add({printable(found.check), name_of(found.level), printable_message(found.detail)});
    if (!found.remedy.empty()) rows.add({"", "", "-> " + printable_message(found.remedy)});
  }
  return rows.text();
}

nlohmann::ordered_json as_json(const finding& found) {
  return {{"check", found.check},
          {"result", name_of(found.level)},
          {"found", found.detail},
          {"remedy", found.remedy}};
}

nlohmann::ordered_json as_json(const std::vector<finding>& findings) {
  nlohmann::ordered_json all = {{"findings", nlohmann::ordered_json::array()}};
  for (const auto& found : findings) all["findings"].push_back(as_json(found));
  return all;
}

// A server, or a sentinel that names one.
bool somebody_answers(const std::vector<finding>& findings) {
  return std::ranges::any_of(findings, [](const finding& found) {
    const bool is_said = found.check == "connect" || found.check == "sentinel";
    return is_said && found.level == severity::ok;
  });
}

std::vector<finding> diagnose(const quorum_choice& quorum, const context& shared) {
  const auto servers = quorum.given() ? quorum.connect(shared.connection)
                                      : std::vector<client>{shared.connection.connect()};
  auto findings =
      quorum.given() ? quorum_inspector{servers}.diagnose() : inspector{servers.front()}.diagnose();
  // That none can be asked at all is an error with its own exit code and hint.
  if (!somebody_answers(findings)) (void)inspector{servers.front()}.status("holdfast doctor");
  return findings;
}

int examine(const quorum_choice& quorum, const context& shared) {
  const auto findings = diagnose(quorum, shared);
  shared.json ? print_json(as_json(findings)) : print(as_table(findings));
  const bool sick =
      std::ranges::find(findings, severity::problem, &finding::level) != findings.end();
  return sick ? problem_found : success;
}

// A line of its own for each.
void tell(const std::vector<finding>& changes, const context& shared) {
  const auto at = show_now();
  for (const auto& found : changes) {
    if (shared.json) {
      auto object = as_json(found);
      object["at"] = at;
      print(object.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    } else {
      const auto remedy = found.remedy.empty() ? "" : " -> " + found.remedy;
      print(fmt::format("{}  {}  {}: {}\n", at, name_of(found.level), printable(found.check),
                        printable_message(found.detail + remedy)));
    }
  }
  std::fflush(stdout);
}

// Until a signal ends it. That nothing can be asked at the beginning is an error.
int keep_examining(const doctor_options& options, const context& shared) {
  signal_watch signals;
  repeated_diagnosis last;
  for (bool is_first = true;; is_first = false) {
    try {
      const ends_at_once meanwhile;
      tell(last.changes(diagnose(options.quorum, shared)), shared);
    } catch (const failure& why) {
      if (is_first) throw;
      tell(last.away(why), shared);
    }
    if (const auto signal = wait_for_next_look(options.interval, signals))
      return killed_by_signal + *signal;
  }
}

}  // namespace

void add_doctor(CLI::App& program, context& shared) {
  auto* const command =
      program.add_subcommand("doctor", "Check whether a server is fit for Holdfast");
  const auto options = std::make_shared<doctor_options>();
  add_members(*command, options->quorum);
  auto* const watches =
      command->add_flag("--watch", options->watches,
                        "Look again and again; print a line for each result that changes");
  add_duration(*command, "--interval", options->interval, "How often to look, with --watch",
               {1s, 24h})
      ->needs(watches);
  command->footer(
      "Connects, logs in, runs every script and publishes; shows versions, latency, memory and\n"
      "persistence. Checks also that the members of a quorum are a majority, different servers "
      "and\n"
      "an odd number, and compares their clocks.\n"
      "Exit code 1 when a problem was found. With --watch it goes on until a signal ends it.\n\n"
      "Examples:\n"
      "  holdfast doctor --member redis://a --member redis://b --member redis://c\n"
      "  holdfast doctor --watch --interval 5m --json >> health.jsonl");
  command->callback([options, &shared] {
    shared.action = [options, &shared] {
      options->quorum.replace_url(shared.connection);
      return options->watches ? keep_examining(*options, shared) : examine(options->quorum, shared);
    };
  });
}

}  // namespace holdfast::cli
