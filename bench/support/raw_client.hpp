// The limit: a blocking socket that sends the very bytes that the library would send.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/options.hpp>

#include "base/request_id.hpp"
#include "base/time.hpp"
#include "redis/dialects/recipe.hpp"
#include "redis/resp/value.hpp"
#include "support/carrier.hpp"

namespace holdfast::bench {

// No thread, no timer, no lease, no retry: request, answer, next. Not thread-safe.
class raw_client {
 public:
  // `spin`: how long to look for an answer before sleeping, as a thread of the library does that
  // is alone on its connection.
  raw_client(std::unique_ptr<carrier> by, microseconds spin);
  raw_client(std::uint16_t port, microseconds spin) : raw_client(plain_carrier(port), spin) {}

  // Acquires and releases once; throws when the server refuses either.
  void pair(const dialects::recipe& recipe, const lock_key& key);

  // One command, in RESP or in words; the answer as it came.
  const resp::value& command(std::string_view bytes);
  const resp::value& ask(std::initializer_list<std::string_view> words);

  // The next value, asked for or not.
  const resp::value& next();

 private:
  const std::unique_ptr<carrier> by_;
  const microseconds spin_;
  const client_id id_;
  std::uint64_t requests_ = 0;
  std::string out_;
  std::string in_;  // not looked at yet
  resp::value answer_;
};

// Loads the scripts that pairs need.
void load_scripts(std::uint16_t port);

// A line of what this command answers, without its name; empty when there is none.
std::string line_of(std::uint16_t port, std::initializer_list<std::string_view> command,
                    std::string_view name);

// A line of INFO.
inline std::string info(std::uint16_t port, std::string_view name) {
  return line_of(port, {"INFO", "all"}, name);
}

// How often it has run this command.
double calls_of(std::uint16_t port, std::string_view command);

// "Redis 7.0.15", "Valkey 8.0.1".
std::string version_of(std::uint16_t port);

}  // namespace holdfast::bench
