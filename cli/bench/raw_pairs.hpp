// The server's own limit: the library's two scripts over one plain blocking socket.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/raw_connection.hpp"

namespace holdfast::cli::bench {

// Not thread-safe. Has a key and a fence counter of its own under the prefix, and removes both.
class raw_pairs {
 public:
  raw_pairs(const connection_options& server, const std::string& prefix,
            std::chrono::milliseconds lease);
  ~raw_pairs();
  raw_pairs(const raw_pairs&) = delete;
  raw_pairs& operator=(const raw_pairs&) = delete;

  void ping();
  void pair();  // throws `failure{errc::server_error}` when either script refuses

 private:
  raw_connection connection_;
  std::string key_;
  std::string queue_;  // never there: nobody else wants this lock
  std::string heard_;
  std::string fence_;
  std::string lease_;
  std::string acquire_;  // SHA-1 of the script
  std::string release_;
  std::uint64_t requests_ = 0;
};

}  // namespace holdfast::cli::bench
