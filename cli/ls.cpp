// holdfast ls [PATTERN]: the locks that are held.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include <holdfast/inspector.hpp>

#include "cli/commands.hpp"
#include "cli/lock_table.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "cli/scan_progress.hpp"

namespace holdfast::cli {
namespace {

struct ls_options {
  std::optional<std::string> pattern;  // none: all
  std::size_t limit = 1000;
  bool all_dialects = false;
  bool scan = false;

  bool looks_at_every_key() const { return scan || all_dialects; }
};

nlohmann::ordered_json unseen_json(const unseen_locks& some) {
  nlohmann::ordered_json object;
  if (!some.name.empty()) add_text(object, "name", some.name);
  if (!some.server.empty()) object["server"] = some.server;
  add_text(object, "why", some.why);
  return object;
}

nlohmann::ordered_json listing_json(const lock_listing& found, const ls_options& options) {
  nlohmann::ordered_json all = {{"complete", found.complete},
                                {"cut_short", found.cut_short},
                                {"indexed", found.indexed},
                                {"locks", nlohmann::ordered_json::array()}};
  for (const auto& lock : found.locks) {
    all["locks"].push_back(to_json(lock));
    if (options.all_dialects) add_text(all["locks"].back(), "dialect", lock.dialect);
  }
  for (const auto& some : found.unseen) all["unseen"].push_back(unseen_json(some));
  return all;
}

// Says why the list was cut short, and what to do.
void tell_what_is_missing(const lock_listing& found, const ls_options& options,
                          const context& shared) {
  constexpr std::size_t most_told = 20;
  for (std::size_t i = 0; i < std::min(found.unseen.size(), most_told); ++i) {
    const auto& some = found.unseen[i];
    const auto& whose = some.server.empty() ? some.name : "the locks at " + some.server;
    note(shared, "unseen", (whose.empty() ? "" : whose + " cannot be seen: ") + some.why);
  }
  if (found.unseen.size() > most_told) {
    note(shared, "unseen", fmt::format("and {} more", found.unseen.size() - most_told));
  }
  if (found.locks.size() >= options.limit) {
    note(shared, "incomplete",
         fmt::format("only {} locks are shown and there may be more: narrow the pattern or raise "
                     "--limit",
                     found.locks.size()));
  } else if (found.unseen.empty()) {
    note(shared, "incomplete", "the search ended before it had looked at all keys: try again");
  }
}

void tell_of_index(const context& shared) {
  note(shared, "indexed",
       "this server has too many keys to look at each of them, so this is its index of held locks. "
       "Held locks may be missing: those held for less than half a second, those whose holders may "
       "not write the index, and for a minute after a failover. --scan looks at every key");
}

lock_listing look_for(const inspector& look, const ls_options& options, const context& shared) {
  const auto pattern = options.pattern.value_or("*");
  scan_progress bar{shared};
  list_options how{.most = options.limit};
  how.progress = [&bar](std::size_t scanned, std::size_t keys) { bar.show(scanned, keys); };
  if (options.looks_at_every_key()) how.most_scanned = std::numeric_limits<std::size_t>::max();
  return options.all_dialects ? look.list_all_dialects(pattern, how) : look.list(pattern, how);
}

int list_locks(const ls_options& options, const context& shared) {
  const inspector look{shared.connection.connect()};
  const auto found = look_for(look, options, shared);
  if (shared.json) {
    print_json(listing_json(found, options));
  } else {
    print(options.all_dialects ? dialect_table(found.locks) : lock_table(found.locks));
    if (found.indexed) tell_of_index(shared);
    if (found.cut_short) tell_what_is_missing(found, options, shared);
  }
  // An index alone is no failure, or each script on a big server would have to expect one.
  return found.cut_short ? incomplete_list : success;
}

}  // namespace

void add_ls(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand("ls", "List the locks that are held");
  const auto options = std::make_shared<ls_options>();
  command
      ->add_option("PATTERN", options->pattern,
                   "Names to show: *, ? and [...] as in a shell; put one like -x* after --")
      ->type_name("");
  command->add_option("--limit", options->limit, "Show at most this many locks")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str()
      ->type_name("N");
  command->add_flag("--all-dialects", options->all_dialects,
                    "Also locks of other libraries, recognised by their keys and contents");
  command->add_flag(
      "--scan", options->scan,
      "Look at every key of the server, however many, instead of the index of held locks");
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
