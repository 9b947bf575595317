// The rights that a user of some kinds of lock needs on the server, read off the scripts.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/key_space.hpp"

namespace holdfast::dialects {

// Commands as ACL SETUSER names them ("get", "pubsub|numsub"), patterns of keys and of channels.
struct rights {
  std::set<std::string> commands;
  std::set<std::string>
      optional_commands;  // a refusal of these only makes it slower, or is not felt
  std::set<std::string> keys;
  std::set<std::string> channels;
};

// The commands that a script calls, by whatever name it calls `redis.call` and `redis.pcall`.
std::set<std::string> commands_in(std::string_view script);

// The rights that the kind needs beside those of every connection. `names`: a pattern over encoded
// names; of fenced writes, over keys. `space`: that of the clients. Throws
// failure{errc::invalid_argument} for an unknown kind, and for those of other libraries.
rights rights_of(std::string_view kind, std::string_view names, const key_space& space);

// The rights to look at locks, and to change nothing.
inline constexpr std::string_view viewer_kind = "viewer";

// The rights to look at locks and break them.
inline constexpr std::string_view operator_kind = "operator";

// The rights of a client that looks for deadlocks, beside those to its locks.
inline constexpr std::string_view deadlocks_kind = "deadlocks";

// The rights of a client that keeps an audit trail, beside those to its locks.
inline constexpr std::string_view audit_kind = "audit";

}  // namespace holdfast::dialects
