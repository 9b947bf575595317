// Where hiredis connects to: the parts of the URL that the program was given.
#pragma once

#include <string>
#include <string_view>

#include "cli/connection.hpp"

namespace holdfast::cli {

struct server_address {
  std::string socket;  // path; empty: host and port
  std::string host = "127.0.0.1";
  int port = 6379;
  std::string username;
  std::string password;
  std::string database = "0";
};

bool is_embedded(std::string_view url);
bool is_in_memory(std::string_view url);
bool is_over_tls(std::string_view url);
bool has_sentinels(std::string_view url);

// The URL has been accepted by holdfast::client before; that of a shared server (embedded:/dir) by
// one that still exists, so that the server does. Throws `complaint` for one that hiredis cannot
// use.
server_address read_address(const connection_options& server);

}  // namespace holdfast::cli
