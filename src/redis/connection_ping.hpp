// Asks a silent server whether it is still there.
#pragma once

#include "redis/connection.hpp"

namespace holdfast::redis {

// Any answer will do; without one the response time-out ends the connection.
class connection::ping_request final : public request {
 public:
  void write(resp::writer& out, monotonic_time) override {
    out.command(1);
    out.arg("PING");
  }
  void on_reply(resp::value&) override { answered_.store(true, std::memory_order_release); }
  void on_failed(fate, const breakdown&) override {
    answered_.store(true, std::memory_order_release);
  }

  // False while one is under way.
  bool is_free() const noexcept { return answered_.load(std::memory_order_acquire); }
  void use() noexcept { answered_.store(false, std::memory_order_relaxed); }

 private:
  std::atomic<bool> answered_{true};
};

}  // namespace holdfast::redis
