// Who is behind a request id: the hash `hf:client:<client id>`, which each client keeps alive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/request_id.hpp"
#include "dialects/recipe.hpp"

namespace holdfast::dialects {

struct client_entry {
  std::string host;
  std::int64_t pid = 0;
  std::string program;
  std::string version;  // of Holdfast
  server_time since{};  // when the client was made
  friend bool operator==(const client_entry&, const client_entry&) = default;
};

// Writes the entry, to live for `ttl`. Texts are cut at 128 bytes, between two characters
// where they are UTF-8. The answer is 1 or an error.
void write_client(const client_id&, const client_entry&, milliseconds ttl, resp::writer&);
std::optional<refused> read_client_written(const resp::value&);

// Where the entry of a client is.
std::uint16_t client_slot(const client_id&);
std::uint16_t client_slot(std::string_view client);

// Removes the entry of a client that ends.
void write_client_removal(const client_id&, resp::writer&);

// Reads the entry of a client whose id is known from a lock's value (lock_held::client). None: it
// has ended, or its entry with it. Unknown and malformed fields count as missing.
void write_client_query(std::string_view client, resp::writer&);
using client_verdict = std::variant<std::optional<client_entry>, refused>;
client_verdict read_client(const resp::value&);

}  // namespace holdfast::dialects
