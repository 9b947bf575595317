// The name and password by which a server knows us.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace holdfast::redis {

class login_source;

struct credentials {
  std::string username;         // empty: the server's default user
  std::string password;         // empty: none
  std::string password_file{};  // read at every log-in, instead of the password; may be empty
  bool old_protocol = false;    // RESP2, without asking for RESP3

  // Gives a password, and maybe a user name, instead of all these; may be null.
  std::shared_ptr<login_source> source{};
  std::uint64_t number = 0;  // of the login that it gave
  std::string trouble{};     // why it gave no newer one; empty: nothing went wrong
};

}  // namespace holdfast::redis
