// Locks of a server, of all libraries.
#pragma once

#include <string_view>

#include <holdfast/inspector.hpp>

#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// inspector::list_all_dialects.
lock_listing list_all_dialects(runtime::client_core& core, std::string_view pattern,
                               const list_options& options);

}  // namespace holdfast::inspection
