// holdfast semaphore get NAME | set NAME N: how many permits there are, for everybody.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include <holdfast/inspector.hpp>

#include "cli/commands.hpp"
#include "cli/complaint.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "cli/permits.hpp"
#include "cli/printable.hpp"

namespace holdfast::cli {
namespace {

struct semaphore_request {
  std::string name;
  std::optional<std::uint32_t> permits;  // set, not get
};

semaphore_request parse(const std::vector<std::string>& words) {
  const auto takes = [&](const char* action, std::size_t count) {
    return words.size() == count && words.front() == action;
  };
  if (takes("get", 2)) return {words[1], std::nullopt};
  const auto permits = takes("set", 3) ? parse_permits(words[2]) : std::nullopt;
  if (permits) return {words[1], permits};
  throw CLI::ValidationError("semaphore", "is followed by get NAME or set NAME N, 0 to 1,000,000");
}

void show(const lock_status& found, const context& shared) {
  if (shared.json) {
    nlohmann::ordered_json told;
    add_text(told, "name", found.name);
    told["permits"] = nullptr;
    if (found.permits) told["permits"] = *found.permits;
    told["in_use"] = found.permits_in_use;
    told["waiting"] = found.waiting;
    return print_json(told);
  }
  table rows({"NAME", "PERMITS", "IN USE", "WAITING"});
  rows.add({printable(found.name), found.permits ? std::to_string(*found.permits) : "not set",
            std::to_string(found.permits_in_use), std::to_string(found.waiting)});
  print(rows.text());
}

lock_status look_at(const inspector& look, const std::string& name) {
  auto found = look.status(name);
  const bool is_other = found.state == lock_state::foreign ||
                        (found.kind != lock_kind::unknown && found.kind != lock_kind::semaphore);
  if (!is_other) return found;
  throw complaint{foreign_data, "not_a_semaphore", fmt::format("'{}' is not a semaphore", name)};
}

int run(const semaphore_request& request, const context& shared) {
  const auto redis = shared.connection.connect();
  const inspector look{redis};
  auto found = look_at(look, request.name);
  if (request.permits) {
    redis.semaphore(request.name).set_permits(*request.permits);
    found = look_at(look, request.name);
  }
  show(found, shared);
  return success;
}

}  // namespace

void add_semaphore(CLI::App& program, context& shared) {
  auto* const command =
      program.add_subcommand("semaphore", "Show or set how many permits a semaphore has");
  const auto words = std::make_shared<std::vector<std::string>>();
  add_names(*command, *words, 3);
  command->get_option("NAME")->description(
      "get NAME, or set NAME N; put words that begin with - after --");
  command->footer(
      "The number holds for everybody, while the semaphore is in use, too. Permits in use stay "
      "so,\n"
      "and waiters come in when there are more. With 0 the number is no longer set, and each\n"
      "client goes by the number that it names itself.\n\n"
      "Examples:\n"
      "  holdfast semaphore set licences 4\n"
      "  holdfast semaphore get licences --json | jq .in_use");
  command->callback([words, &shared] {
    shared.takes_operands = true;
    const auto request = parse(all_names(*words, shared.operands, 3));
    shared.action = [request, &shared] { return run(request, shared); };
  });
}

}  // namespace holdfast::cli
