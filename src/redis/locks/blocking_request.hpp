// One command whose caller waits for the answer.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include <holdfast/result.hpp>

#include "redis/connection/connection.hpp"

namespace holdfast::redis_locks {

// How long a call waits for the server: until `ends`, and until it is stopped.
struct bound {
  monotonic_time ends = monotonic_time::max();
  std::optional<std::stop_token> stop{};
  errc at_end = errc::unavailable;  // the caller's failure then
};

// For a command that must not be left out when the client is stopped.
inline bound unstoppable(monotonic_time ends = monotonic_time::max(),
                         errc at_end = errc::unavailable) {
  return {.ends = ends, .stop = std::stop_token{}, .at_end = at_end};
}

// No answer has come since it was asked.
redis::breakdown too_late(monotonic_time began);

// A command that is given up goes its way without its caller: it may be executed as late as the
// command itself allows. If it has not been sent yet, it never is. Thread safety: one thread.
class blocking_request final {
 public:
  // May be called again when the command is sent again, but not after its run has ended.
  using writing = std::function<void(resp::writer&, monotonic_time sent_at)>;

  explicit blocking_request(writing how);

  // Sends it and waits. Error replies of the server are values here. May be called again, unless
  // it was given up. Fails with `unavailable` at the end, and with `cancelled` after a stop.
  result<resp::value> run(redis::connection& over, const bound& within);

  monotonic_time sent_at() const noexcept;

  // After a run without an answer: the fate of the command as far as it is known, and why there is
  // none.
  no_answer why_unanswered() const noexcept;
  const redis::breakdown& breakdown() const noexcept;

 private:
  class copy;
  std::shared_ptr<copy> copy_;  // the connection may need it for longer than we do
};

}  // namespace holdfast::redis_locks
