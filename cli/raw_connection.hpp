// A connection by plain hiredis, as an application without Holdfast would have one.
#pragma once

#include <hiredis/hiredis.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cli/connection.hpp"

namespace holdfast::cli {

// Not thread-safe. Throws `failure` when the server cannot be asked: `errc::unavailable`, or what
// it refuses: `authentication`, `permission_denied`, `server_error`.
class raw_connection {
 public:
  struct free_reply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  using reply = std::unique_ptr<redisReply, free_reply>;

  explicit raw_connection(const connection_options& server);

  reply ask(const std::vector<std::string>& words);
  void bound_answers(std::chrono::milliseconds timeout);  // for ever when not called

 private:
  struct free_context {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  std::unique_ptr<redisContext, free_context> context_;
};

}  // namespace holdfast::cli
