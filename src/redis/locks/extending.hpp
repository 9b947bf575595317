// A request for a longer lease, for which its caller waits.
#pragma once

#include <holdfast/result.hpp>

#include "base/time.hpp"
#include "redis/dialects/recipe.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

class redis_engine;

// Asks the server to let `held` last for `duration` from then on. Never answered with `late`: it is
// asked twice, and then the request has failed.
result<lock_driver::extension_answer> ask_for_extension(redis_engine& owner, const lock_spec& spec,
                                                        const substrate::claim& claim,
                                                        const holding& held, milliseconds duration);

}  // namespace holdfast::redis_locks
