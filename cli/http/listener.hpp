// The address that the HTTP server listens at.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/descriptor.hpp"

namespace holdfast::cli::http {

struct listen_address {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
};

// Of "9870" (of this machine alone), "10.0.0.7:9870", "[::1]:9870", "*:9870" or "name:9870". Throws
// `CLI::ValidationError` for anything else.
listen_address parse_listen_address(const std::string& text);

// Whether only programs of this machine reach it.
bool is_loopback(const listen_address& address);

struct listener {
  descriptor socket;
  std::string url;  // "http://127.0.0.1:9870", with the port that a 0 has become
};

// Throws `complaint` when nobody can listen there.
listener listen_at(const listen_address& address);

}  // namespace holdfast::cli::http
