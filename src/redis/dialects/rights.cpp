#include "redis/dialects/rights.hpp"

#include <algorithm>
#include <cctype>

#include <holdfast/errc.hpp>

#include "base/printable.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/catalog.hpp"

namespace holdfast::dialects {
namespace {

// Rights that no script shows. Lists are separated by spaces; `@` in a key stands for the names.
// Keys are those behind the prefix of a key space, and one that begins with the names is the user's
// own.
struct beside {
  std::string_view kind;
  std::string_view keys;
  std::string_view commands = {};
  std::string_view optional_commands = {};
  std::string_view also = {};            // another kind, of which it needs all
  const resp::script* around = nullptr;  // the script of its user
};

constexpr std::string_view of_a_lock = "{@}* fence:* client:* held";
constexpr std::string_view of_a_shared_lock = "{@}* fence:* client:* held once:*";

constexpr beside table[] = {
    {"mutex", of_a_lock},
    {"mutex without tokens", of_a_lock},
    {"fair mutex", of_a_lock},
    {"recursive mutex", of_a_lock},
    {"mutex of a quorum", "q:{@}* q:fence:* q:out:* client:*"},
    {"several mutexes", of_a_lock, {}, {}, "mutex"},
    {"election", of_a_lock, "get", "client|tracking client|caching"},
    {"reader", of_a_shared_lock},
    {"upgradeable reader", of_a_shared_lock},
    {"writer", of_a_shared_lock},
    {"semaphore", of_a_shared_lock},
    {"mode lock, NL to PW", of_a_shared_lock},
    {"mode lock, EX", of_a_shared_lock},
    {"latch", "{@}* client:* held once:*"},
    {"barrier", of_a_lock},
    {"counter", "counter:{@} once:*", {}, {}, {}, &scripts::holdfast_update_counter},
    {"fenced write", "@ fenced:*:@ once:*", "hset", {}, {}, &scripts::holdfast_fenced},
    {"rate limiter", "rate:{@} once:*"},
    {"once per interval", "run:{@} once:*", {}, {}, "mutex"},
    {"block of ids", "ids:{@} once:*"},
    {viewer_kind, "{@}* fence:* client:* held audit trail q:{@}* q:out:*",
     "get ping dbsize scan zscan", "client|tracking client|caching"},
    {operator_kind,
     "{@}* {holdfast?doctor?*}* fence:* client:* held audit trail q:{@}* q:{holdfast?doctor?*}* "
     "q:fence:* "
     "q:out:*",
     "ping dbsize scan zscan xadd", "config|get cluster|nodes client|tracking client|caching",
     "mutex"},
    {deadlocks_kind, "waits"},
    {audit_kind, "trail"},
};

void add_words(std::string_view list, std::set<std::string>& to) {
  while (!list.empty()) {
    const auto word = list.substr(0, list.find(' '));
    to.emplace(word);
    list.remove_prefix(std::min(list.size(), word.size() + 1));
  }
}

void add_scripts(std::span<const resp::script* const> scripts, rights& to) {
  for (const auto* script : scripts) to.commands.merge(commands_in(script->text));
}

// A literal in upper case at the beginning of `text`, in lower case; empty when there is none.
std::string literal(std::string_view text) {
  if (!text.starts_with('\'')) return {};
  text.remove_prefix(1);
  std::string word{text.substr(0, text.find('\''))};
  const bool is_name = std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!is_name) return {};
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

const beside& known_of(std::string_view kind) {
  const auto* const known = std::ranges::find(table, kind, &beside::kind);
  if (known != std::end(table)) return *known;
  const auto is_asked = [&](const catalog_entry& row) { return row.what.kind == kind; };
  if (std::ranges::any_of(catalog(), is_asked)) {
    throw failure{errc::invalid_argument, "'" + printable(kind) +
                                              "' is a lock of another library: only the rights "
                                              "of Holdfast's own kinds are known"};
  }
  throw failure{errc::invalid_argument, "there is no kind '" + printable(kind) + "'"};
}

const catalog_entry& row_of(std::string_view kind) {
  return *std::ranges::find_if(catalog(), [&](const catalog_entry& row) {
    return row.what.dialect == "holdfast" && row.what.kind == kind;
  });
}

// A key of ours begins with the prefix of the key space. Any other is the user's own.
std::string pattern_of(std::string pattern, std::string_view names, const key_space& space) {
  const auto at = pattern.find('@');
  if (at != pattern.npos) pattern.replace(at, 1, names);
  const bool is_ours = at != 0;
  return is_ours ? space.named(pattern) : pattern;
}

void add_kind(std::string_view kind, const key_space& space, rights& to) {
  if (kind == viewer_kind) return add_scripts(viewer_scripts(), to);
  if (kind == operator_kind) {
    add_scripts(viewer_scripts(), to);
    return add_scripts(operator_scripts(), to);
  }
  if (kind == deadlocks_kind) return add_scripts(deadlock_scripts(), to);
  if (kind == audit_kind) return add_scripts(audit_scripts(), to);
  const auto& row = row_of(kind);
  add_scripts(row.scripts, to);
  if (!row.what.told) return;
  to.commands.insert("subscribe");
  to.channels.insert(space.named("c:*"));
  const auto* const registers = &scripts::holdfast_register_client;
  add_scripts({&registers, 1}, to);
}

}  // namespace

std::set<std::string> commands_in(std::string_view script) {
  constexpr std::string_view call = "call(";
  constexpr std::string_view separator = "', ";
  std::set<std::string> found;
  for (auto at = script.find(call); at != script.npos; at = script.find(call, at + 1)) {
    const auto rest = script.substr(at + call.size());
    auto command = literal(rest);
    if (command.empty()) continue;
    const auto behind = rest.substr(command.size() + 1);
    if (behind.starts_with(separator)) {
      const auto sub = literal(behind.substr(separator.size()));
      if (!sub.empty()) command += "|" + sub;
    }
    found.insert(std::move(command));
  }
  return found;
}

rights rights_of(std::string_view kind, std::string_view names, const key_space& space) {
  const auto& known = known_of(kind);
  rights needed;
  if (!known.also.empty()) needed = rights_of(known.also, names, space);
  add_words(known.commands, needed.commands);
  add_words(known.optional_commands, needed.optional_commands);
  if (known.around != nullptr) add_scripts({&known.around, 1}, needed);
  std::set<std::string> keys;
  add_words(known.keys, keys);
  for (const auto& key : keys) needed.keys.insert(pattern_of(key, names, space));
  add_kind(kind, space, needed);
  return needed;
}

}  // namespace holdfast::dialects
