// The client behind a request id: the hash `client:<client id>` in the key space of that client,
// which keeps it alive.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/key_space.hpp"
#include "base/lock_key.hpp"
#include "redis/dialects/recipe.hpp"

namespace holdfast::dialects {

struct client_entry {
  std::string host;
  std::int64_t pid = 0;
  std::string program;
  std::string version;               // of Holdfast
  server_time since{};               // when the client was made
  std::vector<std::string> notes{};  // those that were asked for, in that order; empty: none
  friend bool operator==(const client_entry&, const client_entry&) = default;
};

// Where the entry of a client is, whose id is known or was read from a lock's value
// (lock_held::client).
struct client_place {
  client_place(const key_space&, std::string_view client);
  std::string key;
  std::uint16_t slot;
};

// Writes the entry, to live for `ttl`. Texts are cut at 128 bytes, between two characters
// where they are UTF-8. The answer is 1 or an error.
void write_client(const client_place&, const client_entry&, milliseconds ttl, resp::writer&);
std::optional<refused> read_client_written(const resp::value&);

// Where in the entry stands what a grant of the client is for.
std::string note_field(const lock_key&, token_major);

struct note_change {
  std::string field;
  std::string note;  // empty: none any more
};
void write_notes(const client_place&, std::span<const note_change>, milliseconds ttl,
                 resp::writer&);

// Removes the entry of a client that ends.
void write_client_removal(const client_place&, resp::writer&);

// Reads the entry, and the notes in these fields; of each text the beginning. None: the client has
// ended, or its entry with it, or the key is no entry. Malformed fields count as missing.
void write_client_query(const client_place&, resp::writer&,
                        std::span<const std::string> note_fields = {});
using client_verdict = std::variant<std::optional<client_entry>, refused>;
client_verdict read_client(const resp::value&);

}  // namespace holdfast::dialects
