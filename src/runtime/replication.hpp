// Whether replicas have a grant, before it counts (client_options::min_replicas).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "redis/connection.hpp"

namespace holdfast::runtime {

class engine;
class tenure;

// Renews what was granted, which proves that this server knows it and makes the server send it to
// its replicas once more, and waits until enough of them have said that they received that (WAIT;
// WAITAOF where it must be on their disks). All this over a connection of its own: WAIT stops
// whatever comes behind it.
//
// Thread safety: all members from any thread, unless said otherwise.
class replication final : private redis::connection::observer {
 public:
  replication(engine& owner, redis::session_settings session, redis::connection_tuning tuning,
              net::background_thread& helper);

  // Calls tenure::on_replicated once, within connect and response time-out.
  void confirm(std::shared_ptr<tenure> granted);

  net::attendant& attended() noexcept { return connection_; }
  // After the background thread has stopped.
  void shut_down() { connection_.shut_down(); }

 private:
  class confirmation;

  void on_connected(const redis::session_facts&) override {
    sessions_.fetch_add(1, std::memory_order_relaxed);
  }
  void on_push(resp::value&, std::uint64_t) override {}
  void on_broken() override {}

  engine& engine_;
  std::atomic<std::uint64_t> sessions_{0};  // so many connections were made
  redis::connection connection_;
};

}  // namespace holdfast::runtime
