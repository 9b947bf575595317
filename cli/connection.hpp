// Which server the program talks to, and as whom.
#pragma once

#include <chrono>
#include <string>

#include <holdfast/client.hpp>

namespace holdfast::cli {

struct connection_options {
  std::string url = "redis://127.0.0.1:6379";
  bool url_given = false;  // by --url or HOLDFAST_URL
  std::string username;
  std::string password;  // from the environment or a file, never from the command line
  std::chrono::milliseconds connect_timeout{2000};
  std::chrono::milliseconds response_timeout{2000};

  client_options for_client() const;
  // Throws `failure` like holdfast::client: does not connect yet.
  client connect() const;
};

// The connection options as they stand on the command line.
struct connection_arguments {
  std::string url;
  std::string username;
  std::string password_file;
  std::chrono::milliseconds connect_timeout{2000};
  std::chrono::milliseconds response_timeout{2000};
};

// Adds HOLDFAST_URL, HOLDFAST_USER and HOLDFAST_PASSWORD to what was given. Throws `complaint` for
// an unreadable password file, and for a password on the command line, where every user of the
// machine could read it.
connection_options resolve(const connection_arguments& given);

}  // namespace holdfast::cli
