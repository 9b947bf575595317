// Asking Redis Sentinel which server is the master of a service.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <holdfast/options.hpp>

#include "net/socket.hpp"
#include "redis/credentials.hpp"
#include "redis/link.hpp"
#include "redis/request.hpp"
#include "resp/value.hpp"

namespace holdfast::redis {

struct session_facts;

// The sentinels that watch over one service, and how to log in to them.
struct sentinel_group {
  std::string service;
  std::vector<net::endpoint> members;
  credentials login;
  std::optional<tls_options> tls;  // none: plain
};

// What one sentinel said: where the master is, that it has never heard of the service, or why it
// could not be asked.
struct unknown_service {};
using sentinel_answer = std::variant<net::endpoint, unknown_service, breakdown>;

// The answer to SENTINEL GET-MASTER-ADDR-BY-NAME.
sentinel_answer read_master(const resp::value& reply);

// Connects to one and logs in. Blocks as long as the limits allow, as does the next.
std::optional<breakdown> reach_sentinel(const net::endpoint& sentinel, const sentinel_group& group,
                                        const net::connect_limits& limits, link& over,
                                        session_facts& facts);

// Does that and asks.
sentinel_answer ask_sentinel(const net::endpoint& sentinel, const sentinel_group& group,
                             const net::connect_limits& limits);

// Remembers who answered last, and asks him first. Thread safety: none.
class sentinel_circle {
 public:
  explicit sentinel_circle(sentinel_group group);

  // Asks one after the other until one knows. Each gets an equal part of the time that is left, so
  // that there is as much again for the master. Returns why none could say.
  std::optional<breakdown> find_master(const net::connect_limits& limits, net::endpoint& master);

  const sentinel_group& group() const noexcept { return group_; }

 private:
  sentinel_group group_;
};

}  // namespace holdfast::redis
