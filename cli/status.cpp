// holdfast status NAME...: who holds these locks.
#include <memory>
#include <nlohmann/json.hpp>

#include <holdfast/inspector.hpp>
#include <holdfast/quorum_inspector.hpp>

#include "cli/commands.hpp"
#include "cli/dialect_choice.hpp"
#include "cli/lock_table.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "cli/quorum_choice.hpp"
#include "cli/quorum_view.hpp"

namespace holdfast::cli {
namespace {

template <typename Lock>
void print_as_json(const std::vector<Lock>& locks) {
  nlohmann::ordered_json all = {{"locks", nlohmann::ordered_json::array()}};
  for (const auto& lock : locks) all["locks"].push_back(to_json(lock));
  print_json(all);
}

int show_status(const std::vector<std::string>& names, const dialect& how, const context& shared) {
  const inspector look{shared.connection.connect()};
  std::vector<lock_status> locks;
  for (const auto& name : names) locks.push_back(look.status(name, how));
  if (shared.json) {
    print_as_json(locks);
  } else {
    print(lock_table(locks));
    for (const auto& lock : locks) print(lock_details(lock));
  }
  return success;
}

int show_votes(const std::vector<std::string>& names, const quorum_choice& quorum,
               const context& shared) {
  const quorum_inspector look{quorum.connect(shared.connection)};
  std::vector<quorum_status> locks;
  for (const auto& name : names) locks.push_back(look.status(name));
  if (shared.json) {
    print_as_json(locks);
  } else {
    print(quorum_table(locks));
    for (const auto& lock : locks) print(votes_table(lock));
  }
  return success;
}

}  // namespace

void add_status(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand("status", "Show who holds locks");
  const auto names = std::make_shared<std::vector<std::string>>();
  const auto how = std::make_shared<dialect>();
  const auto quorum = std::make_shared<quorum_choice>();
  add_names(*command, *names, many_names);
  add_members(*command, *quorum, add_dialect(*command, *how));
  command->footer(
      "Examples:\n"
      "  holdfast status nightly orders:42\n"
      "  holdfast status --dialect redisson nightly\n"
      "  holdfast status --member redis://a --member redis://b --member redis://c nightly\n"
      "  holdfast status --json nightly | jq -r '.locks[0].owner.host'");
  command->callback([names, how, quorum, &shared] {
    shared.takes_operands = true;
    const auto all = all_names(*names, shared.operands, many_names, or_list_them);
    shared.action = [all, how, quorum, &shared] {
      quorum->replace_url(shared.connection);
      return quorum->given() ? show_votes(all, *quorum, shared) : show_status(all, *how, shared);
    };
  });
}

}  // namespace holdfast::cli
