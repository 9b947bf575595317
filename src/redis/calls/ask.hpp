// One command and its answer.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "redis/locks/blocking_request.hpp"
#include "redis/resp/value.hpp"
#include "redis/resp/writer.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::calls {

using writing = std::function<void(resp::writer&)>;
using words = std::initializer_list<std::string_view>;

using redis_locks::bound;

// From now on connect_timeout and response_timeout, or `within`, if that is less. It has a stop:
// the client's own where none is given.
bound one_trip(runtime::client_core& core, const bound& within);

// Sends the command that `write` writes to the master that has the hash slot, or over this
// connection. Waits for the answer for one trip. An error reply is an answer. Throws failure when
// there is none: `cancelled` after a stop. Thread safety: any thread.
resp::value ask(runtime::client_core& core, std::uint16_t slot, const writing& write,
                const bound& within = {});
resp::value ask(runtime::client_core& core, std::uint16_t slot, words what,
                const bound& within = {});
resp::value ask(runtime::client_core& core, redis::connection& over, words what,
                const bound& within = {});

// Stands for an answer that did not come: an error reply that says why.
resp::value no_answer(std::string why);

// As ask, but an error reply is thrown too.
resp::value answer_to(runtime::client_core& core, std::uint16_t slot, words what,
                      const bound& within = {});
resp::value answer_to(runtime::client_core& core, redis::connection& over, words what,
                      const bound& within = {});

}  // namespace holdfast::calls
