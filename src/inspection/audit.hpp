// The record of locks that were broken.
#pragma once

#include <string_view>

#include <holdfast/inspector.hpp>

#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// Writes one entry for each broken holder, by the user of this process. If the server refuses an
// entry, or does not answer, the detail says so: the lock is broken all the same.
void record_break(runtime::client_core& core, std::string_view reason, lock_status& broken);

}  // namespace holdfast::inspection
