// Several locks of one client that are asked for at once, with one command.
#pragma once

#include <stop_token>
#include <variant>
#include <vector>

#include "lease/acquire_machine.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

// Asks once, for all of them, which joint_request can have; blocks until the answer comes. The
// first code that is not `busy` says why there is nothing. `timed_out` or `cancelled`: the caller
// did not wait for the answer, and locks that are granted meanwhile go back.
std::variant<std::vector<grant>, leasing::outcome> take_together(
    const std::vector<local_lock*>& all, const leasing::patience& patience, std::stop_token stop);

}  // namespace holdfast::redis_locks
