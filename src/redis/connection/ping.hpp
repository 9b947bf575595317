// Asks a silent server whether it is still there, and still a master.
#pragma once

#include <atomic>

#include "redis/connection/connector.hpp"
#include "redis/connection/request.hpp"
#include "redis/connection/server_reply.hpp"

namespace holdfast::redis {

// Any answer will do; without one the response time-out ends the connection. A master that became a
// replica refuses nothing while it is asked nothing: those that only wait would stay with it.
class ping final : public request {
 public:
  explicit ping(connector& connecting) noexcept : connector_(connecting) {}

  void write(resp::writer& out, monotonic_time) override {
    out.command(2);
    out.arg("INFO");
    out.arg("replication");
  }
  void on_reply(resp::value& said) override {
    answered_.store(true, std::memory_order_release);
    if (said.is_text() && info_field(said.text, "role") == "slave") connector_.leave_demoted();
  }
  void on_failed(no_answer, const breakdown&) override {
    answered_.store(true, std::memory_order_release);
  }

  // False while one is under way.
  bool is_free() const noexcept { return answered_.load(std::memory_order_acquire); }
  void use() noexcept { answered_.store(false, std::memory_order_relaxed); }

 private:
  connector& connector_;
  std::atomic<bool> answered_{true};
};

}  // namespace holdfast::redis
