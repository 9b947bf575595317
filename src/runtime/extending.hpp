// A request for a longer lease, for which its caller waits.
#pragma once

#include <holdfast/result.hpp>

#include "base/time.hpp"
#include "dialects/recipe.hpp"
#include "runtime/lock_spec.hpp"

namespace holdfast::runtime {

class engine;
class holding;

struct extension_answer {
  substrate::renew_verdict verdict;
  monotonic_time sent_at;
  monotonic_time answered_at;
};

// Asks the server to let `held` last for `duration` from then on. Never answered with `late`: it is
// asked twice, and then the request has failed.
result<extension_answer> ask_for_extension(engine& owner, const lock_spec& spec,
                                           const substrate::claim& claim, const holding& held,
                                           milliseconds duration);

}  // namespace holdfast::runtime
