// holdfast acl: the rights that a user of the server needs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/access_rights.hpp>
#include <holdfast/errc.hpp>

#include "cli/commands.hpp"
#include "cli/complaint.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "cli/printable.hpp"

namespace holdfast::cli {
namespace {

struct arguments {
  std::optional<std::string> pattern;
  std::vector<std::string> kinds;
};

// No server takes this for a password, so it refuses the line if a user forgets to put one there.
constexpr const char* password_place = "#SHA256-OF-PASSWORD";

access_rights rights_of(const arguments& given, const std::string& tenant) {
  try {
    return access_rights_for(*given.pattern, given.kinds, tenant);
  } catch (const failure& refused) {
    throw complaint{usage, "usage", std::string(refused.what()) + " (see holdfast acl --help)"};
  }
}

int show(const context& shared, const arguments& given) {
  const auto& chosen = shared.connection.username;
  const std::string user = chosen.empty() ? "holdfast" : chosen;
  if (user.find(' ') != user.npos || printable(user) != user) {
    throw complaint{
        usage, "usage",
        "the name of a server's user cannot have spaces, or bytes that cannot be printed"};
  }
  const auto rights = rights_of(given, shared.connection.tenant);
  const auto rule = fmt::format("ACL SETUSER {} reset on {} {}", user, password_place,
                                fmt::join(rights.needed, " "));
  if (shared.json) {
    print_json(
        {{"rule", rule}, {"user", user}, {"needed", rights.needed}, {"optional", rights.optional}});
  } else {
    print(rule + "\n");
  }
  return success;
}

}  // namespace

void add_acl(CLI::App& program, context& shared) {
  const auto given = std::make_shared<arguments>();
  auto* const command = program.add_subcommand(
      "acl", "Print the rights that a user of the server needs, as ACL SETUSER");
  command
      ->add_option(
          "pattern", given->pattern,
          "Glob over the names of locks ('orders:*'), or over the keys of fenced writes; put one "
          "like -x* after --")
      ->type_name("PATTERN");
  command
      ->add_option(
          "--kind", given->kinds,
          "A kind of Holdfast's own as `holdfast capabilities` names it, `viewer` (status, ls, "
          "watch, audit), or `operator` (also semaphore, release --force, doctor). Beside others: "
          "`cluster` for nodes of a Redis Cluster, `replicas` for --min-replicas, `deadlocks` for "
          "clients that look for them, `audit` for --audit. May be given several times [all "
          "locks]")
      ->type_name("KIND")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->footer(
      "The rights are read off the scripts that clients really send, so none is missing. The user\n"
      "is that of --user, or `holdfast`. With --tenant the line is for that tenant's locks alone.\n"
      "Put # and the SHA-256 of the password, or >PASSWORD, in the place of #SHA256-OF-PASSWORD.\n"
      "--json also tells which rights are tried but not needed. Asks no server.\n\n"
      "Example:\n"
      "  hash=$(printf %s \"$password\" | sha256sum | cut -d' ' -f1)\n"
      "  holdfast acl 'orders:*' --user worker | sed \"s/#SHA256-OF-PASSWORD/#$hash/\" | "
      "redis-cli");
  command->callback([&shared, given] {
    take_dashed_pattern(given->pattern, shared);
    if (!given->pattern) throw CLI::RequiredError("PATTERN");
    shared.action = [&shared, given] { return show(shared, *given); };
  });
}

}  // namespace holdfast::cli
