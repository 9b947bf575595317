// holdfast status NAME...: who holds these locks.
#include <memory>
#include <nlohmann/json.hpp>

#include <holdfast/inspector.hpp>

#include "cli/commands.hpp"
#include "cli/dialect_choice.hpp"
#include "cli/lock_table.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

int show_status(const std::vector<std::string>& names, const dialect& how, const context& shared) {
  const inspector look{shared.connection.connect()};
  std::vector<lock_status> locks;
  for (const auto& name : names) locks.push_back(look.status(name, how));
  if (shared.json) {
    nlohmann::ordered_json all = {{"locks", nlohmann::ordered_json::array()}};
    for (const auto& lock : locks) all["locks"].push_back(to_json(lock));
    print_json(all);
  } else {
    print(lock_table(locks));
    for (const auto& lock : locks) print(lock_details(lock));
  }
  return success;
}

}  // namespace

void add_status(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand("status", "Show who holds locks");
  const auto names = std::make_shared<std::vector<std::string>>();
  const auto how = std::make_shared<dialect>();
  add_names(*command, *names, many_names);
  add_dialect(*command, *how);
  command->footer(
      "Examples:\n"
      "  holdfast status nightly orders:42\n"
      "  holdfast status --dialect redisson nightly\n"
      "  holdfast status --json nightly | jq -r '.locks[0].owner.host'");
  command->callback([names, how, &shared] {
    shared.takes_operands = true;
    const auto all = all_names(*names, shared.operands, many_names);
    shared.action = [all, how, &shared] { return show_status(all, *how, shared); };
  });
}

}  // namespace holdfast::cli
