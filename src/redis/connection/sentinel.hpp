// Asking Redis Sentinel which server is the master of a service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <holdfast/options.hpp>

#include "net/socket.hpp"
#include "net/tls_peer.hpp"
#include "redis/connection/breakdown.hpp"
#include "redis/connection/credentials.hpp"
#include "redis/connection/link.hpp"
#include "redis/connection/newest_epoch.hpp"
#include "redis/resp/value.hpp"

namespace holdfast::redis {

struct session_facts;

// The sentinels that watch over one service, and how to log in to them.
struct sentinel_group {
  std::string service;
  std::vector<net::endpoint> members;
  credentials login;
  std::optional<tls_options> tls;  // none: plain
  net::tls_peer peer = net::tls_peer::sentinel_as_server;
};

// The answer of one sentinel: where the master is, that it has never heard of the service, or why
// it could not be asked.
struct named_master {
  net::tcp_endpoint where;
  std::optional<std::uint64_t> epoch;  // nothing: we may not ask for that
};
struct unknown_service {};
using sentinel_answer = std::variant<named_master, unknown_service, breakdown>;

// How a sentinel describes a server: names and values by turns. Empty: there is none of that name.
std::string field_of(const resp::value& pairs, std::string_view name);

// The two questions, which must be asked in this order: between them it may hear of a failover, and
// an address is not to be taken for newer than it is.
inline constexpr const char* master_questions[] = {"MASTER", "GET-MASTER-ADDR-BY-NAME"};
std::optional<std::uint64_t> read_epoch(const resp::value& reply);
sentinel_answer read_master(const resp::value& reply, std::optional<std::uint64_t> epoch);

// Connects to one and logs in. Blocks as long as the limits allow, as does the next.
std::optional<breakdown> reach_sentinel(const net::endpoint& sentinel, const sentinel_group& group,
                                        const net::connect_limits& limits, link& over,
                                        session_facts& facts);

// The answer of one sentinel, with details.
struct sentinel_report {
  sentinel_answer said;
  resp::value described{};  // the answer to SENTINEL MASTER; an error where we may not ask for that
  std::string tls{};        // as in session_facts
};

// Does that and asks.
sentinel_report question_sentinel(const net::endpoint& sentinel, const sentinel_group& group,
                                  const net::connect_limits& limits);
sentinel_answer ask_sentinel(const net::endpoint& sentinel, const sentinel_group& group,
                             const net::connect_limits& limits);

// Remembers the sentinel that answered last, and asks it first. Thread safety: none, but that
// `newest`, which is kept by the caller, may be shared.
//
// A sentinel whose answer is older than one that was heard before is passed over, though a server
// may live on where it leads. There is one exception: most answers have been so old for some
// seconds, or all for a minute. Then the sentinels were set up anew.
//
// In one search for a master the sentinels are asked again and again. Those that named none come
// last, behind those that are doubted: each time one of them is waited for, less time is left.
class sentinel_circle {
 public:
  sentinel_circle(sentinel_group group, newest_epoch& newest);

  void begin_search() noexcept;

  // Asks one after the other until one knows. Each gets an equal part of the time that is left, so
  // that there is as much again for the master. Returns why none could say.
  std::optional<breakdown> find_master(const net::connect_limits& limits, net::endpoint& master);

  // The sentinel that answered last named a server that is not there, or no master: the others come
  // first now.
  void doubt_the_first() noexcept;

  const sentinel_group& group() const noexcept { return group_; }

 private:
  using member = std::vector<net::endpoint>::iterator;
  void believe(member who) noexcept;

  newest_epoch& newest_;
  sentinel_group group_;       // in the order in which they are asked
  std::ptrdiff_t silent_ = 0;  // so many at the end have named no master in this search
};

}  // namespace holdfast::redis
