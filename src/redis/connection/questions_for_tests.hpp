// Requests for tests: they name the thread that waits for them, and nothing else.
#pragma once

#include "redis/connection/request.hpp"

namespace holdfast::redis {

struct question : request {
  explicit question(net::waiter* who = nullptr, answered_by how = answered_by::reply)
      : request(how) {
    set_sleeper(who);
  }
  void write(resp::writer&, monotonic_time) override {}
  void on_reply(resp::value&) override {}
  void on_failed(no_answer, const breakdown&) override {}
};

}  // namespace holdfast::redis
