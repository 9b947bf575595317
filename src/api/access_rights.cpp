#include <holdfast/access_rights.hpp>

#include <algorithm>
#include <array>
#include <span>

#include <holdfast/errc.hpp>

#include "base/lock_key.hpp"
#include "redis/connection/session.hpp"
#include "redis/dialects/catalog.hpp"
#include "redis/dialects/rights.hpp"

namespace holdfast {
namespace {

// Rights beside those of the kinds of locks, where the server is part of a larger deployment.
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

constexpr std::string_view fenced_write = "fenced write";

const surroundings* find_surroundings(std::string_view name) {
  const auto all = all_surroundings();
  const auto found = std::ranges::find(all, name, &surroundings::name);
  return found == all.end() ? nullptr : &*found;
}

// The server takes no spaces here, its tools read a meaning into quotation marks, and a terminal
// one into control bytes.
std::string as_server_takes_it(std::string pattern) {
  std::ranges::replace_if(
      pattern,
      [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= ' ' || byte == 0x7f || c == '"' || c == '\'';
      },
      '?');
  return pattern;
}

// Locks are kept under keys in which their names are written so. The keys of fenced writes are the
// user's own, and are named as they are.
std::string server_pattern(std::string_view over_names, std::string_view kind) {
  return as_server_takes_it(kind == fenced_write ? std::string(over_names)
                                                 : encode_name(over_names));
}

std::vector<std::string> all_locks() {
  std::vector<std::string> kinds;
  for (const auto& row : dialects::catalog()) {
    // Clients can wait for a lock, unlike for a value.
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
                                const std::vector<std::string>& kinds, std::string_view tenant) {
  if (name_pattern.empty()) throw failure{errc::invalid_argument, "the name pattern is empty"};
  const key_space space{tenant};
  dialects::rights all;
  std::vector<std::string> locks;
  for (const auto& kind : kinds) {
    if (const auto* const where = find_surroundings(kind)) {
      add_commands(where->commands, all);
    } else if (kind == dialects::deadlocks_kind || kind == dialects::audit_kind) {
      add(dialects::rights_of(kind, server_pattern(name_pattern, kind), space), all);
    } else {
      locks.push_back(kind);
    }
  }
  for (const auto& kind : locks.empty() ? all_locks() : locks) {
    add(dialects::rights_of(kind, server_pattern(name_pattern, kind), space), all);
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
