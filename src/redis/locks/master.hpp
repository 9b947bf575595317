// A server that has locks: the only one, or one of the masters of a cluster.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.hpp"
#include "redis/connection/connection.hpp"
#include "redis/locks/replication.hpp"
#include "redis/locks/shared_clock.hpp"

namespace holdfast::redis_locks {

struct master {
  master(redis::session_settings session, redis::connection_tuning tuning,
         net::background_thread& helper, redis::connection::observer& watching,
         std::atomic<std::uint64_t>* positions)
      : connection(std::move(session), tuning, helper, watching, positions) {}

  redis::connection connection;
  shared_clock clock;
  std::unique_ptr<replication> replicas;  // null unless grants must be on replicas

  void learn(const redis::session_facts& facts) HOLDFAST_EXCLUDES(mutex_) {
    clock.learn(facts.asked_at, facts.answered_at, facts.time);
    const scoped_mutex lock(mutex_);
    tls_ = facts.tls;
    at_ = facts.where;
  }
  // Where the last connection led, which only the sentinels or nodes may know.
  net::endpoint where() const HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return at_.port == 0 ? connection.settings().where : net::endpoint{at_};
  }
  // Of the last connection: "TLSv1.3, ..."; empty: plain.
  std::string tls() const HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return tls_;
  }

  // Of a cluster, as far as nodes have said: one without has no part in it, or is a replica.
  std::atomic<bool> has_slots{false};

  // Of the connecting thread: which server it was last (redis::session_facts::identity).
  bool was_connected = false;
  std::string identity;

 private:
  mutable mutex mutex_;
  std::string tls_ HOLDFAST_GUARDED_BY(mutex_);
  net::tcp_endpoint at_ HOLDFAST_GUARDED_BY(mutex_);  // no port: through a socket of this machine
};

}  // namespace holdfast::redis_locks
