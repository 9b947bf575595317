// All locks of the holdfast layout that match a pattern.
#pragma once

#include <string_view>

#include <holdfast/inspector.hpp>

#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// inspector::list.
lock_listing list(runtime::client_core& core, std::string_view pattern,
                  const list_options& options);

}  // namespace holdfast::inspection
