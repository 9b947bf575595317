// holdfast release NAME --force --reason TEXT: takes a lock away from its holder.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include <holdfast/inspector.hpp>

#include "cli/commands.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "cli/printable.hpp"

namespace holdfast::cli {
namespace {

struct release_options {
  std::vector<std::string> names;
  bool force = false;
  std::string reason;
};

int break_lock(const std::string& name, const std::string& reason, const context& shared) {
  const inspector look{shared.connection.connect()};
  const auto broken = look.break_lock(name, reason);
  const bool was_held = broken.what == lock_status::state::held;
  if (shared.json) {
    print_json({{"broken", was_held}, {"was", to_json(broken)}});
  } else if (was_held) {
    print(fmt::format("broken: {} (token {}) was held by {}\n", printable(name),
                      broken.token.to_string(), show_owner(broken)));
  } else {
    print(fmt::format("nobody held {}\n", printable(name)));
  }
  if (!broken.detail.empty() && !shared.json) note(shared, "audit", broken.detail);
  return was_held ? success : problem_found;
}

void check(const release_options& options) {
  if (!options.force) {
    throw CLI::ValidationError("--force", "is needed: the holder is not asked and may go on");
  }
  if (options.reason.empty()) {
    throw CLI::ValidationError("--reason", "is needed: it is kept in the stream hf:audit");
  }
}

}  // namespace

void add_release(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand("release", "Take a lock away from whoever holds it");
  const auto options = std::make_shared<release_options>();
  add_names(*command, options->names, 1);
  command->add_flag("--force", options->force, "Needed: the holder is not asked and may go on");
  command->add_option("--reason", options->reason, "Needed: why, for the audit stream")
      ->type_name("TEXT");
  command->footer(
      "The broken holder's fencing token can never come again: what checks tokens refuses it.\n\n"
      "Example:\n"
      "  holdfast release nightly --force --reason 'host db3 is on fire'");
  command->callback([options, &shared] {
    shared.takes_operands = true;
    const auto name = all_names(options->names, shared.operands, 1).front();
    check(*options);
    shared.action = [name, options, &shared] { return break_lock(name, options->reason, shared); };
  });
}

}  // namespace holdfast::cli
