// The talk on a connection before it is shared: commands whose answers are waited for.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "net/socket.hpp"
#include "redis/connection/breakdown.hpp"
#include "redis/connection/link.hpp"
#include "redis/connection/session.hpp"

namespace holdfast::redis {

// A few commands in one write, and their answers in one wait.
class exchange {
 public:
  exchange(link& over, const net::connect_limits& limits) : link_(over), limits_(limits) {}

  void ask(std::initializer_list<std::string_view> words);

  // Nothing, or what broke.
  std::optional<breakdown> run();

  resp::value& reply(std::size_t i) { return replies_[i]; }

  // The peer has hung up without a word, at what is not TLS.
  bool may_want_tls() const noexcept { return may_want_tls_; }

 private:
  bool ready(short events) { return net::wait_ready(link_.fd(), events, limits_); }
  std::optional<breakdown> closed();
  static std::optional<breakdown> silence();
  static std::optional<breakdown> endless();

  link& link_;
  const net::connect_limits& limits_;
  std::string bytes_;
  std::size_t expected_ = 0;
  bool answered_ = false;  // anything, ever
  bool may_want_tls_ = false;
  reply_batch replies_;
};

// Shakes hands over a connected socket, where TLS is wanted. `where`: whom its certificate must
// name, unless the options say so.
std::optional<breakdown> secure(link& over, const std::optional<tls_options>& tls,
                                const net::endpoint& where, const net::connect_limits& limits);

// Whether TLS is spoken there. Asks for it; in a build without TLS nobody knows.
bool speaks_tls(const net::endpoint& where, const net::connect_limits& limits);

// The meaning of an error in the place of an answer; nothing when it is none.
std::optional<breakdown> refusal(const resp::value& reply);

// RESP3 where the server has it. A server, proxy or access list without HELLO gets RESP2 and AUTH.
std::optional<breakdown> log_in(exchange& talk, const net::endpoint& where,
                                const credentials& login, session_facts& facts);

}  // namespace holdfast::redis
