// holdfast doctor: whether a server, or a quorum of them, is fit for Holdfast.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include <holdfast/quorum_inspector.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/printable.hpp"
#include "cli/quorum_choice.hpp"

namespace holdfast::cli {
namespace {

using severity = finding::severity;

const char* show(severity level) {
  switch (level) {
    case severity::ok:
      return "ok";
    case severity::warning:
      return "warning";
    case severity::problem:
      return "problem";
  }
  return "unknown";
}

std::string as_table(const std::vector<finding>& findings) {
  table rows({"CHECK", "RESULT", "FOUND"});
  for (const auto& found : findings) {
    rows.add({printable(found.check), show(found.level), printable_message(found.detail)});
    if (!found.remedy.empty()) rows.add({"", "", "-> " + printable_message(found.remedy)});
  }
  return rows.text();
}

nlohmann::ordered_json as_json(const std::vector<finding>& findings) {
  nlohmann::ordered_json all = {{"findings", nlohmann::ordered_json::array()}};
  for (const auto& found : findings) {
    all["findings"].push_back({{"check", found.check},
                               {"result", show(found.level)},
                               {"found", found.detail},
                               {"remedy", found.remedy}});
  }
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

}  // namespace

void add_doctor(CLI::App& program, context& shared) {
  auto* const command =
      program.add_subcommand("doctor", "Check whether a server is fit for Holdfast");
  const auto quorum = std::make_shared<quorum_choice>();
  add_members(*command, *quorum);
  command->footer(
      "Connects, logs in, runs every script and publishes; shows versions, latency, memory and\n"
      "persistence. Checks also that the members of a quorum are a majority, different servers "
      "and\n"
      "an odd number, and compares their clocks.\n"
      "Exit code 1 when a problem was found.\n\n"
      "Example:\n"
      "  holdfast doctor --member redis://a --member redis://b --member redis://c");
  command->callback([quorum, &shared] {
    shared.action = [quorum, &shared] {
      quorum->replace_url(shared.connection);
      return examine(*quorum, shared);
    };
  });
}

}  // namespace holdfast::cli
