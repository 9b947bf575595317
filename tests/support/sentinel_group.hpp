// A service of one's own under Redis Sentinel: a master, two replicas and three sentinels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "support/private_server.hpp"

namespace holdfast::support {

// One sentinel, with these lines in its configuration ("requirepass x").
private_server start_sentinel(const std::string& program, const std::vector<std::string>& lines,
                              const std::optional<server_tls>& tls = {},
                              const std::string& address = "127.0.0.1");

// One that alone decides about the master at this port, whatever is there.
private_server start_sentinel_of(const std::string& program, std::uint16_t master,
                                 const std::optional<server_tls>& tls = {});

// All on free ports of 127.0.0.1. Throws when they do not find each other; their logs are printed
// when the test has failed.
class sentinel_group {
 public:
  static constexpr std::size_t members = 3;
  static constexpr const char* service = "locks";

  // With TLS: between all of them, and to them; also to the sentinels alone. After so long a silent
  // server counts as dead.
  explicit sentinel_group(const std::string& program, std::optional<server_tls> tls = {},
                          milliseconds down_after = milliseconds{500},
                          std::optional<server_tls> to_sentinels = {});

  // redis+sentinel://..., or rediss+sentinel://; to the sentinels by TLS where they have it.
  std::string url() const;
  std::string url_of_plain_sentinels() const;

  private_server& server(std::size_t i) { return servers_[i]; }
  private_server& sentinel(std::size_t i) { return sentinels_[i]; }

  // What the sentinels say, and the server that it means.
  std::string master_address() const;
  std::size_t master() const;
  // One that is not the master.
  std::size_t a_replica() const { return (master() + 1) % members; }

  // As an operator does it; returns when a sentinel names another master, and the old one is a
  // replica: it would grant what is lost with it until then. Throws when there is no other.
  void fail_over();
  // Whether the sentinels name another master than `before`, and it is one.
  bool has_moved_from(std::size_t before) const;
  // Until all sentinels name the same master and none is at work on a failover, which only one of
  // them sees to its end. Throws when they do not come to that.
  void await_sentinels() const;
  // Whether this one has been told that it is no master.
  bool is_demoted(std::size_t i) const;

  // The replicas keep what they have and get nothing new. The sentinels mend it after some seconds.
  void cut_replication() const;
  // Makes a replica of an old master that came back, as the sentinels do after eight seconds.
  void demote(std::size_t i) const;

  // How many replicas have received everything.
  std::size_t replicas_in_step() const;

 private:
  std::uint16_t port_of(const private_server& one) const;
  std::string url_by(std::uint16_t (private_server::*port)() const) const;
  void await_replicas() const;

  const std::optional<server_tls> tls_;
  const std::optional<server_tls> to_sentinels_;
  std::vector<private_server> servers_;  // the first was the first master
  std::vector<private_server> sentinels_;
};

}  // namespace holdfast::support
