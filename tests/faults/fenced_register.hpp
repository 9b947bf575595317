// A resource that refuses late writers, and one that does not.
#pragma once

#include <string>

#include "support/raw_connection.hpp"

namespace holdfast::faults {

// A hash in Redis with the last value and the token of its writer. Tokens have more digits than a
// double, so they are compared as texts: first by length.
class fenced_register {
 public:
  explicit fenced_register(const std::string& socket) : connection_(net::unix_endpoint{socket}) {}

  // False: refused, somebody with a larger token was here.
  bool write(std::uint64_t token, const std::string& value) {
    static const std::string script =
        "local last = redis.call('HGET', KEYS[1], 'token') or '' "
        "local mine = ARGV[1] "
        "if #mine < #last or (#mine == #last and mine < last) then return 0 end "
        "redis.call('HSET', KEYS[1], 'token', mine, 'value', ARGV[2]) return 1";
    const auto reply =
        connection_.command({"EVAL", script, "1", "register", std::to_string(token), value});
    return reply.number == 1;
  }
  std::string read() { return connection_.command({"HGET", "register", "value"}).text; }

  // The same without a look at the token.
  void write_unfenced(const std::string& value) { connection_.command({"SET", "plain", value}); }
  std::string read_unfenced() { return connection_.command({"GET", "plain"}).text; }

 private:
  support::raw_connection connection_;
};

}  // namespace holdfast::faults
