// Questions that are sent together over one connection, and whose caller waits for all answers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "redis/connection/connection.hpp"
#include "redis/locks/blocking_request.hpp"
#include "redis/resp/value.hpp"
#include "redis/resp/writer.hpp"

namespace holdfast::calls {

// One that changes nothing: if it is given up, the server may execute it all the same.
struct question {
  enum class fate : std::uint8_t { open, answered, failed };

  std::uint16_t slot = 0;
  std::function<void(resp::writer&)> write;

  fate how = fate::open;      // still open after its time: it was given up
  resp::value reply{};        // when answered; an error reply is an answer
  redis::breakdown broken{};  // when failed

  // The reply. Throws failure when there is none.
  resp::value take();
};

// Waits until each is answered or has failed, or until `within` is over. A connection waits for all
// of these answers no longer than for one. Thread safety: any thread.
void ask_together(redis::connection& over, std::span<question* const> questions,
                  const redis_locks::bound& within);

}  // namespace holdfast::calls
