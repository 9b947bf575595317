// holdfast capabilities: what every kind of lock can do, and what it costs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include <holdfast/capabilities.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

nlohmann::ordered_json as_json(const capability& what) {
  return {{"dialect", what.dialect},
          {"kind", what.kind},
          {"made_by", what.made_by},
          {"token", what.token},
          {"renewed", what.renewed},
          {"fair", what.fair},
          {"reentrant", what.reentrant},
          {"told", what.told},
          {"handed_over", what.handed_over},
          {"passed_on", what.passed_on},
          {"commands", {{"to_acquire", what.to_acquire}, {"to_release", what.to_release}}}};
}

std::vector<std::string> as_row(const capability& what) {
  const auto says = [](bool it_can) { return it_can ? "yes" : "-"; };
  const auto commands = what.to_release == 0
                            ? std::to_string(what.to_acquire)
                            : fmt::format("{} + {}", what.to_acquire, what.to_release);
  return {std::string(what.kind),   says(what.token),     says(what.renewed),
          says(what.fair),          says(what.reentrant), says(what.told),
          says(what.handed_over),   says(what.passed_on), commands,
          std::string(what.made_by)};
}

int show(const context& shared) {
  if (shared.json) {
    nlohmann::ordered_json all = {{"kinds", nlohmann::ordered_json::array()}};
    for (const auto& what : capabilities()) all["kinds"].push_back(as_json(what));
    print_json(all);
    return success;
  }
  table rows({"KIND", "TOKEN", "RENEWED", "FAIR", "REENTRANT", "TOLD", "HANDED OVER", "PASSED ON",
              "COMMANDS", "MADE BY"});
  for (const auto& what : capabilities()) rows.add(as_row(what));
  print(rows.text());
  return success;
}

}  // namespace

void add_capabilities(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand(
      "capabilities", "Show the abilities of every kind of lock, and its cost");
  command->footer(
      "token: every grant has a fencing token. fair: strict order of arrival among all processes.\n"
      "told: a release notifies a waiter; otherwise the waiter asks again and again.\n"
      "handed over: a release makes the first waiter the holder in the same trip. passed on: the\n"
      "threads of one client hand it over among themselves without the server. commands: to\n"
      "acquire and to release when no other client wants it. Asks no server.\n\n"
      "Example:\n"
      "  holdfast capabilities --json | jq -r '.kinds[] | select(.fair).kind'");
  command->callback([&shared] { shared.action = [&shared] { return show(shared); }; });
}

}  // namespace holdfast::cli
