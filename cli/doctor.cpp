// holdfast doctor: whether a server is fit for Holdfast.
#include <algorithm>
#include <nlohmann/json.hpp>

#include <holdfast/inspector.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/printable.hpp"

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
    rows.add({printable(found.check), show(found.level), printable(found.detail)});
    if (!found.remedy.empty()) rows.add({"", "", "-> " + printable(found.remedy)});
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

bool cannot_connect(const std::vector<finding>& findings) {
  return std::ranges::any_of(findings, [](const finding& found) {
    return found.check == "connect" && found.level == severity::problem;
  });
}

int examine(const context& shared) {
  const inspector look{shared.connection.connect()};
  const auto findings = look.diagnose();
  // A server that cannot be asked at all is an error with its own exit code and hint.
  if (cannot_connect(findings)) (void)look.status("holdfast doctor");
  shared.json ? print_json(as_json(findings)) : print(as_table(findings));
  const bool sick =
      std::ranges::find(findings, severity::problem, &finding::level) != findings.end();
  return sick ? problem_found : success;
}

}  // namespace

void add_doctor(CLI::App& program, context& shared) {
  auto* const command =
      program.add_subcommand("doctor", "Check whether a server is fit for Holdfast");
  command->footer(
      "Connects, logs in, runs every script, publishes; versions, latency, memory, persistence.\n"
      "Exit code 1 when a problem was found.");
  command->callback([&shared] { shared.action = [&shared] { return examine(shared); }; });
}

}  // namespace holdfast::cli
