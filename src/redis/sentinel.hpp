// Asking Redis Sentinel which server is the master of a service.
#pragma once

#include <cstddef>
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
//
// In one search for a master the sentinels are asked again and again. Those that named none come
// last, behind those that are doubted: each time one of them is waited for, less time is left.
class sentinel_circle {
 public:
  explicit sentinel_circle(sentinel_group group);

  void begin_search() noexcept;

  // Asks one after the other until one knows. Each gets an equal part of the time that is left, so
  // that there is as much again for the master. Returns why none could say.
  std::optional<breakdown> find_master(const net::connect_limits& limits, net::endpoint& master);

  // Who answered last named a server that is not there, or no master: the others come first now.
  void doubt_the_first() noexcept;

  const sentinel_group& group() const noexcept { return group_; }

 private:
  sentinel_group group_;       // in the order in which they are asked
  std::ptrdiff_t silent_ = 0;  // so many at the end have named no master in this search
};

}  // namespace holdfast::redis
