// The masters of hash slots, as the nodes of a Redis Cluster tell them.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/socket.hpp"
#include "redis/resp/value.hpp"

namespace holdfast::redis {

// A run of slots and their master.
struct slot_range {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  net::tcp_endpoint master;
  std::string id;  // of the master; empty: it was not told
};

// The answer to CLUSTER SLOTS of the node at `asked`, whose host stands where a node's own is left
// out or unknown. Ranges whose master has no known address are left out, and so are those that
// cannot be read. Nothing: it is no such answer.
std::optional<std::vector<slot_range>> read_slots(const resp::value& reply,
                                                  const net::tcp_endpoint& asked);

// Where a request belongs instead.
struct redirection {
  enum class kind : std::uint8_t {
    moved,  // for good: MOVED
    ask,    // this once, after ASKING: the slot is being moved there
  };
  kind how = kind::moved;
  std::uint16_t slot = 0;
  net::tcp_endpoint where;
};

// The error of the node at `asked`: "MOVED 3999 127.0.0.1:6381". Nothing: it is another error.
std::optional<redirection> read_redirection(std::string_view error, const net::tcp_endpoint& asked);

}  // namespace holdfast::redis
