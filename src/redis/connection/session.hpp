// Connecting and logging in: from an address to a connection that is ready for commands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "net/socket.hpp"
#include "redis/connection/breakdown.hpp"
#include "redis/connection/credentials.hpp"
#include "redis/connection/link.hpp"
#include "redis/connection/sentinel.hpp"
#include "redis/resp/writer.hpp"

namespace holdfast::redis {

// A client's settings for every connection it makes.
struct session_settings {
  net::endpoint where;
  std::optional<sentinel_group> sentinels;  // they know where, instead
  std::vector<net::tcp_endpoint> seeds;     // instead, of a cluster: see open_session()
  bool asks_slots = false;                  // of a cluster
  bool is_known = false;  // others say that this server exists: failing to reach it proves little
  std::optional<tls_options> tls;  // none: plain
  credentials login;
  int database = 0;
  std::string client_name;  // CLIENT SETNAME; shown by CLIENT LIST
  milliseconds connect_timeout{2000};
  milliseconds response_timeout{2000};
  std::vector<const resp::script*> scripts;  // loaded when logging in
  std::string channel;                       // subscribed before anything is asked; empty: none
};

// A command that a user must be allowed to send over such a connection; or one that is only good to
// have, whose refusal is ignored. Names as ACL SETUSER has them.
struct session_command {
  std::string_view name;
  bool needed = true;
};
std::span<const session_command> session_commands() noexcept;
std::span<const session_command> cluster_commands() noexcept;  // more, in a cluster

// The facts about the server that logging in has told.
struct session_facts {
  bool resp3 = false;
  bool subscribed = false;  // to the channel: messages come as pushes on this connection
  bool is_sentinel = false;
  std::string role;                // "master", "replica" or "slave", as far as it says
  std::string address;             // where it is: net::to_string of the endpoint
  std::uint64_t login_number = 0;  // credentials::number of the login that was accepted
  // Another one whenever the server starts, or becomes a master; empty where INFO is not allowed.
  std::string identity;
  std::string server;         // "redis" or "valkey", as far as it says
  std::string version;        // "7.0.15"
  std::string tls;            // "TLSv1.3, TLS_AES_256_GCM_SHA384"; empty: plain
  monotonic_time asked_at{};  // the sample of the server's clock
  monotonic_time answered_at{};
  server_time time{};
  // Only where slots are asked for.
  net::tcp_endpoint where;
  resp::value slots;    // CLUSTER SLOTS
  std::string node_id;  // CLUSTER MYID

  bool is_replica() const noexcept { return !role.empty() && role != "master"; }
};

// Blocks at most connect_timeout. Returns nothing on success, with the connection in `into`: of the
// seeds, to the first that knows the slots' masters, or if none does to the last that let us in. Of
// the addresses of a name, to the first that lets us in, but rather to a master than to a replica.
std::optional<breakdown> open_session(const session_settings& settings, const net::wake_up* cancel,
                                      link& into, session_facts& facts);

}  // namespace holdfast::redis
