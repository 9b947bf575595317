// Connecting and logging in: from an address to a connection that is ready for commands.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "net/socket.hpp"
#include "redis/request.hpp"
#include "redis/url.hpp"
#include "resp/writer.hpp"

namespace holdfast::redis {

// What a client wants of every connection it makes.
struct session_settings {
  net::endpoint where;
  credentials login;
  int database = 0;
  std::string client_name;  // CLIENT SETNAME; shown by CLIENT LIST
  milliseconds connect_timeout{2000};
  milliseconds response_timeout{2000};
  std::vector<const resp::script*> scripts;  // loaded when logging in
  std::string channel;                       // subscribed before anything is asked; empty: none
};

// What logging in told about the server.
struct session_facts {
  bool resp3 = false;
  bool subscribed = false;    // to the channel: messages come as pushes on this connection
  std::string server;         // "redis" or "valkey", as far as it says
  std::string version;        // "7.0.15"
  monotonic_time asked_at{};  // the sample of the server's clock
  monotonic_time answered_at{};
  server_time time{};
};

// Blocks at most connect_timeout. Returns nothing on success, with the connected socket in
// `socket`.
std::optional<breakdown> open_session(const session_settings& settings, const net::wake_up* cancel,
                                      net::descriptor& socket, session_facts& facts);

}  // namespace holdfast::redis
