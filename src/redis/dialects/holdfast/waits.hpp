// The waits of all clients of a key space (docs/decisions/0015-deadlock-detection.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/key_space.hpp"
#include "base/request_id.hpp"
#include "redis/dialects/recipe.hpp"
#include "substrate/known_wait.hpp"

namespace holdfast::dialects {

using substrate::held_lock;
using substrate::known_wait;
using substrate::link_of_cycle;
using substrate::lock_in_mode;

// Never used again for another wait. While a client that listens has no channel, it is dead.
std::string wait_id(const client_id&, std::uint64_t number, wakeup_way);

// As it stands at the server: lines, since no key and no request id has a line end.
std::string to_record(const known_wait&);

struct wait_record {
  std::string id;
  std::string record;
};
// A copy of what wrote it down may come until `noted_until`, the latest not-after of those.
struct ended_wait {
  std::string id;
  server_time noted_until{};
};
// A client's news of its waits, and the place from which it reads on among those of all clients
// (see part_of_waits). Both lists should be short, since the script goes through them.
struct wait_note {
  std::vector<ended_wait> ended;
  std::vector<wait_record> waits;
  std::string read_from{};  // empty: nothing is asked
};
// About a hundred of those that are known. All parts from one `first_part` to the next have each
// wait that has stood there all the time, some more than once.
inline constexpr std::string_view first_part = "0";
struct part_of_waits {
  std::vector<known_wait> waits;
  std::string next{first_part};
  friend bool operator==(const part_of_waits&, const part_of_waits&) = default;
};
// The server refuses it after `not_after`, and when that is far future.
void write_note(const key_space&, const wait_note&, milliseconds counts_for, server_time not_after,
                resp::writer&);
// Waits that it does not understand are left out, and so are locks of another key space.
std::variant<part_of_waits, late, refused> read_note(const key_space&, const resp::value&);

// Whether it is a cycle now. True ends the first wait of it, whose `noted_until` is given, and is
// said to nobody else.
void write_confirm(const key_space&, const std::vector<link_of_cycle>& cycle,
                   server_time noted_until, resp::writer&);
std::variant<bool, refused> read_confirm(const resp::value&);

}  // namespace holdfast::dialects
