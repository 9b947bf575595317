// holdfast release NAME --force --reason TEXT: takes a lock away from its holder.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include <holdfast/inspector.hpp>
#include <holdfast/quorum_inspector.hpp>

#include "cli/commands.hpp"
#include "cli/dialect_choice.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "cli/printable.hpp"
#include "cli/quorum_choice.hpp"
#include "cli/quorum_view.hpp"

namespace holdfast::cli {
namespace {

struct release_options {
  std::vector<std::string> names;
  bool force = false;
  std::string reason;
  quorum_choice quorum;
  dialect how;
};

int break_lock(const std::string& name, const release_options& options, const context& shared) {
  const inspector look{shared.connection.connect()};
  const auto broken = look.break_lock(name, options.reason, options.how);
  const bool was_held = broken.state == lock_state::held;
  if (shared.json) {
    print_json({{"broken", was_held}, {"was", to_json(broken)}});
  } else if (was_held) {
    print(fmt::format("broken: {} (token {}) was held by {}\n", printable(name),
                      broken.token.to_string(), show_owner(broken)));
  } else {
    print(fmt::format("nobody held {}\n", printable(name)));
  }
  if (!broken.detail.empty() && !shared.json) note(shared, "audit", broken.detail);
  if (!was_held && options.how == dialect{}) tell_of_foreign(look, name, shared);
  return was_held ? success : problem_found;
}

std::size_t votes_taken(const quorum_status& broken) {
  return static_cast<std::size_t>(std::ranges::count_if(
      broken.members, [](const auto& one) { return one.lock.state == lock_state::held; }));
}

// The notes about each member beside that.
void tell_of_members(const quorum_status& broken, const context& shared) {
  for (const auto& one : broken.members) {
    if (!one.unavailable.empty()) {
      note(shared, "member", one.member + " keeps its vote, if it has one: " + one.unavailable);
    }
    if (!one.lock.detail.empty()) note(shared, "member", one.member + ": " + one.lock.detail);
  }
}

int break_votes(const std::string& name, const release_options& options, const context& shared) {
  const auto servers = options.quorum.connect(shared.connection);
  const quorum_inspector look{servers};
  const auto broken = look.break_lock(name, options.reason, options.how);
  const bool was_held = broken.state == quorum_state::held;
  const auto taken = votes_taken(broken);
  const auto members = broken.members.size();
  if (taken == 0 && options.how == dialect{}) tell_of_foreign_votes(servers, name, shared);
  if (shared.json) {
    print_json({{"broken", was_held}, {"votes_taken", taken}, {"was", to_json(broken)}});
    return was_held ? success : problem_found;
  }
  if (was_held) {
    print(fmt::format("broken: {} (token {}) was held by {} at {} of {} members\n", printable(name),
                      broken.token.to_string(), show_owner(broken.owner), broken.votes, members));
  } else if (taken > 0) {
    print(fmt::format("no majority held {}; the votes of {} of {} members were taken away\n",
                      printable(name), taken, members));
  } else {
    print(fmt::format("nobody held {}\n", printable(name)));
  }
  tell_of_members(broken, shared);
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
  auto* const command = program.add_subcommand("release", "Take a lock away from its holder");
  const auto options = std::make_shared<release_options>();
  add_names(*command, options->names, 1);
  command->add_flag("--force", options->force, "Needed: the holder is not asked and may go on");
  command->add_option("--reason", options->reason, "Needed: why, for the audit stream")
      ->type_name("TEXT");
  add_dialect(*command, options->how);
  add_members(*command, options->quorum);
  command->footer(
      "The broken holder's fencing token can never come again, so a resource that checks tokens\n"
      "refuses it. A lock of another library (--dialect) has none.\n\n"
      "Example:\n"
      "  holdfast release nightly --force --reason 'host db3 is on fire'\n"
      "  holdfast release --dialect redis_py nightly --force --reason 'left without an end'");
  command->callback([options, &shared] {
    shared.takes_operands = true;
    const auto name = all_names(options->names, shared.operands, 1, or_list_them).front();
    check(*options);
    shared.action = [name, options, &shared] {
      options->quorum.replace_url(shared.connection);
      return options->quorum.given() ? break_votes(name, *options, shared)
                                     : break_lock(name, *options, shared);
    };
  });
}

}  // namespace holdfast::cli
