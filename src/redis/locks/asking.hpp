// ASKING goes before each request to the node to which a hash slot is being moved.
#pragma once

#include "redis/connection/request.hpp"

namespace holdfast::redis_locks {

// Owns itself until answered.
class asking final : public redis::request {
  void write(resp::writer& out, monotonic_time) override {
    out.command(1);
    out.arg("ASKING");
  }
  void on_reply(resp::value&) override { delete this; }
  void on_failed(no_answer, const redis::breakdown&) override { delete this; }
};

}  // namespace holdfast::redis_locks
