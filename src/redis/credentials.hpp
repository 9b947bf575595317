// Who we are to a server.
#pragma once

#include <string>

namespace holdfast::redis {

struct credentials {
  std::string username;  // empty: the server's default user
  std::string password;  // empty: none
};

}  // namespace holdfast::redis
