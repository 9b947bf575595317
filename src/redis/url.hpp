// Server addresses as users write them.
#pragma once

#include <string>
#include <string_view>

#include <holdfast/result.hpp>

#include "net/socket.hpp"

namespace holdfast::redis {

struct credentials {
  std::string username;  // empty: the server's default user
  std::string password;  // empty: none
};

// What a URL says. `embedded` has no endpoint until the server is started.
struct server_url {
  enum class kind { server, embedded_private, embedded_shared };
  kind what = kind::server;
  net::endpoint where;
  std::string directory;  // of embedded_shared
  credentials login;
  int database = 0;
  std::string shown;  // the URL without password
};

// The forms are listed at holdfast::client. Errors: `invalid_url`, `unsupported` (rediss://); their
// messages never contain the password.
result<server_url> parse_url(std::string_view text);

}  // namespace holdfast::redis
