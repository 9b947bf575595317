// The record of locks that were broken.
#pragma once

#include <string_view>

#include <holdfast/inspector.hpp>

#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// One entry for each who had it, by the user of this process. What the server refuses, or
// does not answer, is said in the detail: the lock is broken all the same.
void record_break(runtime::client_core& core, std::string_view reason, lock_status& broken);

}  // namespace holdfast::inspection
