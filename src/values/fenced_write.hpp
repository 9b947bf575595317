// A script on keys of the user, run only with a fencing token that is not stale.
#pragma once

#include <string>
#include <vector>

#include <holdfast/fenced.hpp>
#include <holdfast/fencing_token.hpp>

#include "redis/dialects/holdfast/fenced.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::values {

// See client::fenced_eval.
fenced_reply write_fenced(runtime::client_core& core, const dialects::composed_script& script,
                          const std::vector<std::string>& keys,
                          const std::vector<std::string>& args, fencing_token token);

}  // namespace holdfast::values
