// A plain HTTP client: one request over one connection, and all that comes back.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/program.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::cli_tests {

struct http_answer {
  int status = 0;  // 0: the connection was closed without one
  std::string head{};
  std::string body{};
};

inline net::endpoint http_endpoint(std::uint16_t port) {
  return net::tcp_endpoint{.host = "127.0.0.1", .port = port};
}

// Whatever comes until the peer closes.
inline std::string read_to_end(support::raw_connection& connection) {
  std::string all;
  for (auto some = connection.read_some(); !some.empty(); some = connection.read_some()) {
    all += some;
  }
  return all;
}

inline http_answer parse_answer(const std::string& bytes) {
  const auto end = bytes.find("\r\n\r\n");
  if (!bytes.starts_with("HTTP/1.") || end == bytes.npos) return {};
  return {.status = std::atoi(bytes.c_str() + std::string_view("HTTP/1.1 ").size()),
          .head = bytes.substr(0, end),
          .body = bytes.substr(end + 4)};
}

// These very bytes.
inline http_answer http_send(std::uint16_t port, std::string_view bytes) {
  support::raw_connection connection(http_endpoint(port));
  connection.send(bytes);
  return parse_answer(read_to_end(connection));
}

inline std::string http_request(const std::string& target, const std::string& method = "GET") {
  return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
}

inline http_answer http_get(std::uint16_t port, const std::string& target) {
  return http_send(port, http_request(target));
}

// The port that a program has told on its standard error.
inline std::uint16_t port_of(child_process& program) {
  constexpr std::string_view told = "listens at http://127.0.0.1:";
  EXPECT_TRUE(program.wait_for_errors(told) && program.wait_for_errors("\n")) << program.errors();
  const auto at = program.errors().find(told);
  if (at == std::string::npos) return 0;
  return static_cast<std::uint16_t>(std::atoi(program.errors().c_str() + at + told.size()));
}

}  // namespace holdfast::cli_tests
