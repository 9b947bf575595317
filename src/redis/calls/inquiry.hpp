// Many questions over the connections of a client, some at a time.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "redis/calls/question_batch.hpp"
#include "redis/locks/blocking_request.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::calls {

// A trip for each is far too slow where there are thousands. Too many at once are too much for a
// slow line: all answers of a batch must come within response_timeout, or the connection counts as
// broken. So each batch is as large as the time tells that the one before took. If one is too large
// all the same, its questions are asked again one by one. Thread safety: one thread.
class inquiry {
 public:
  // `within`: until when, and until which stop.
  explicit inquiry(runtime::client_core& core, redis_locks::bound within = {});

  // None is open afterwards. When a server does not answer one question alone, all that it is still
  // to be asked fails. Throws failure in a forked child, and when it is to stop.
  void ask(std::span<question> all);

 private:
  // How many questions a connection gets at once.
  struct pace {
    std::size_t at_once = 4;
    std::size_t most = 32;
    nanoseconds shortest_trip = nanoseconds::max();
  };

  void ask(redis::connection& over, std::vector<question*> open);
  void ask_some(redis::connection& over, std::span<question* const> some);
  void adapt(pace& how, nanoseconds took) const;

  runtime::client_core& core_;
  const redis_locks::bound within_;
  std::map<redis::connection*, pace> paces_;
};

}  // namespace holdfast::calls
