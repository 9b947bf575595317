// Finds the locks of other libraries that a name may mean.
#pragma once

#include <string_view>
#include <vector>

#include <holdfast/inspector.hpp>

#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// inspector::find_foreign.
std::vector<lock_status> find_foreign(runtime::client_core& core, std::string_view name);

}  // namespace holdfast::inspection
