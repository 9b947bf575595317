// The name and password by which a server knows us.
#pragma once

#include <string>

namespace holdfast::redis {

struct credentials {
  std::string username;         // empty: the server's default user
  std::string password;         // empty: none
  std::string password_file{};  // read at every log-in, instead of the password; may be empty
  bool old_protocol = false;    // RESP2, without asking for RESP3
};

}  // namespace holdfast::redis
