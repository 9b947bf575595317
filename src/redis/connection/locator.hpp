// Where to connect: where an address or a name leads, or to whatever the sentinels call the master.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/wake_up.hpp"
#include "redis/connection/master_watch.hpp"
#include "redis/connection/sentinel.hpp"
#include "redis/connection/session.hpp"

namespace holdfast::redis {

// Thread safety: open() on one thread at a time, the rest from any thread.
class locator {
 public:
  // `moved`: called on a thread of the watch's own when the sentinels name another master, with its
  // address. Never without sentinels.
  locator(const session_settings& settings, master_watch::listener moved);

  // As open_session. With sentinels: asks them, connects to the master that they name and makes
  // sure that it is one. During a failover they name the old one for a while: asks again, until
  // connect_timeout.
  std::optional<breakdown> open(link& into, session_facts& facts);

  // The master may be elsewhere now: if open() is at work, it asks the sentinels again.
  void ask_again() noexcept;

  // open() returns soon, now and in future.
  void cancel() noexcept;

  // After cancel(): no more is heard of the sentinels.
  void stop_watching() noexcept { watch_.reset(); }

  bool follows_sentinels() const noexcept { return circle_.has_value(); }

  // Whether open() may come to another server than before. A socket in the file system belongs to
  // one server, and the nodes of a cluster tell where its masters are.
  bool may_lead_elsewhere() const noexcept {
    return !settings_.asks_slots && !std::holds_alternative<net::unix_endpoint>(settings_.where);
  }

 private:
  std::optional<breakdown> find_and_open(link& into, session_facts& facts);
  std::optional<breakdown> open_master(const net::endpoint& where, milliseconds patience,
                                       link& into, session_facts& facts);
  void look_for_tls(breakdown& why, monotonic_time deadline, net::tls_peer peer);
  void start_watching(const std::string& master);
  bool pause(milliseconds how_long, monotonic_time deadline);
  void rearm() noexcept;

  const session_settings& settings_;
  const master_watch::listener moved_;
  newest_epoch newest_;
  std::optional<sentinel_circle> circle_;
  net::wake_up interrupt_;
  std::atomic<bool> cancelled_{false};
  bool looked_for_tls_ = false;
  std::optional<net::endpoint> tls_at_;  // there it was found
  std::unique_ptr<master_watch> watch_;  // from the first connection on
};

}  // namespace holdfast::redis
