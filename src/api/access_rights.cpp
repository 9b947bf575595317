#include <holdfast/access_rights.hpp>

#include <algorithm>
#include <array>
#include <span>

#include <holdfast/errc.hpp>

#include "base/lock_key.hpp"
#include "dialects/catalog.hpp"
#include "dialects/rights.hpp"
#include "redis/session.hpp"

namespace holdfast {
namespace {

// Not kinds of lock, but what is needed beside them where the server is a part of something.
struct surroundings {
  std::string_view name;
  std::span<const redis::session_command> commands;
};

std::span<const surroundings> all_surroundings() {
  static constexpr redis::session_command of_replication[] = {{"wait"}, {"waitaof", false}};
  static const std::array all{surroundings{"cluster", redis::cluster_commands()},
                              surroundings{"replicas", of_replication}};
  return all;
}

const surroundings* find_surroundings(std::string_view name) {
  const auto all = all_surroundings();
  const auto found = std::ranges::find(all, name, &surroundings::name);
  return found == all.end() ? nullptr : &*found;
}

std::string server_pattern(std::string_view over_names) {
  if (over_names.empty()) throw failure{errc::invalid_argument, "the name pattern is empty"};
  auto pattern = encode_name(over_names);
  // The server takes no spaces here, and its tools read a meaning into quotation marks.
  std::ranges::replace_if(
      pattern, [](char c) { return c == ' ' || c == '"' || c == '\''; }, '?');
  return pattern;
}

std::vector<std::string> all_locks() {
  std::vector<std::string> kinds;
  for (const auto& row : dialects::catalog()) {
    // What others may wait for, unlike a value.
    const bool is_lock = row.what.dialect == "holdfast" && row.what.told;
    if (is_lock) kinds.emplace_back(row.what.kind);
  }
  return kinds;
}

void add_commands(std::span<const redis::session_command> sent, dialects::rights& to) {
  for (const auto& command : sent) {
    (command.needed ? to.commands : to.optional_commands).emplace(command.name);
  }
}

void add(dialects::rights more, dialects::rights& to) {
  to.commands.merge(more.commands);
  to.optional_commands.merge(more.optional_commands);
  to.keys.merge(more.keys);
  to.channels.merge(more.channels);
}

void add_each(std::string_view sign, const std::set<std::string>& what,
              std::vector<std::string>& to) {
  for (const auto& one : what) to.push_back(std::string(sign) + one);
}

}  // namespace

access_rights access_rights_for(std::string_view name_pattern,
                                const std::vector<std::string>& kinds) {
  const auto pattern = server_pattern(name_pattern);
  dialects::rights all;
  std::vector<std::string> locks;
  for (const auto& kind : kinds) {
    if (const auto* const where = find_surroundings(kind)) {
      add_commands(where->commands, all);
    } else if (kind == dialects::deadlocks_kind) {
      add(dialects::rights_of(kind, pattern), all);
    } else {
      locks.push_back(kind);
    }
  }
  for (const auto& kind : locks.empty() ? all_locks() : locks) {
    add(dialects::rights_of(kind, pattern), all);
  }
  add_commands(redis::session_commands(), all);
  for (const auto& command : all.commands) all.optional_commands.erase(command);
  access_rights rights;
  rights.needed.emplace_back("resetchannels");  // before Redis 7 a new user may use all
  add_each("~", all.keys, rights.needed);
  add_each("&", all.channels, rights.needed);
  add_each("+", all.commands, rights.needed);
  add_each("+", all.optional_commands, rights.optional);
  return rights;
}

}  // namespace holdfast
