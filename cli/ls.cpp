// holdfast ls [PATTERN]: the locks that are held.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include <holdfast/inspector.hpp>

#include "cli/commands.hpp"
#include "cli/lock_table.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

struct ls_options {
  std::optional<std::string> pattern;  // none: all
  std::size_t limit = 1000;
  bool all_dialects = false;
};

int list_locks(const ls_options& options, const context& shared) {
  const inspector look{shared.connection.connect()};
  const auto pattern = options.pattern.value_or("*");
  const auto found = options.all_dialects ? look.list_all_dialects(pattern, options.limit)
                                          : look.list(pattern, options.limit);
  if (shared.json) {
    nlohmann::ordered_json all = {{"complete", found.complete},
                                  {"locks", nlohmann::ordered_json::array()}};
    for (const auto& lock : found.locks) {
      all["locks"].push_back(to_json(lock));
      if (options.all_dialects) add_text(all["locks"].back(), "dialect", lock.dialect);
    }
    print_json(all);
    return success;
  }
  print(options.all_dialects ? dialect_table(found.locks) : lock_table(found.locks));
  if (!found.complete) {
    note(shared, "incomplete",
         fmt::format("only {} locks are shown and there may be more: narrow the pattern or raise "
                     "--limit",
                     found.locks.size()));
  }
  return success;
}

}  // namespace

void add_ls(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand("ls", "List the locks that are held");
  const auto options = std::make_shared<ls_options>();
  command
      ->add_option("PATTERN", options->pattern,
                   "Names to show: *, ? and [...] as in a shell; one like -x* after --")
      ->type_name("");
  command->add_option("--limit", options->limit, "Show at most this many locks")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str()
      ->type_name("N");
  command->add_flag("--all-dialects", options->all_dialects,
                    "Also locks of other libraries, recognised by what stands at their keys");
  command->footer(
      "Examples:\n"
      "  holdfast ls\n"
      "  holdfast ls --all-dialects\n"
      "  holdfast ls 'orders:*' --limit 20 --json");
  command->callback([options, &shared] {
    take_dashed_pattern(options->pattern, shared);
    shared.action = [options, &shared] { return list_locks(*options, shared); };
  });
}

}  // namespace holdfast::cli
