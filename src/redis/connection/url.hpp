// Server addresses as users write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/result.hpp>

#include "net/socket.hpp"
#include "redis/connection/credentials.hpp"
#include "redis/connection/sentinel.hpp"

namespace holdfast::redis {

// The contents of a URL. `embedded` has no endpoint until the server is started.
struct server_url {
  enum class kind { server, embedded_private, embedded_shared };
  kind what = kind::server;
  net::endpoint where;                           // where there is one server
  std::optional<sentinel_group> sentinels;       // without log-in: a URL has only the server's
  std::vector<net::tcp_endpoint> cluster_nodes;  // some of a cluster; empty: it is none
  std::string directory;                         // of embedded_shared
  credentials login;
  int database = 0;
  bool tls = false;
  std::string shown;  // the URL without password
};

// The forms are listed at holdfast::client. Error: `invalid_url`; its message
// never contains the password.
result<server_url> parse_url(std::string_view text);

}  // namespace holdfast::redis
