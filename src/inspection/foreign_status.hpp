// The holders of a lock of another library.
#pragma once

#include <string>
#include <string_view>

#include <holdfast/inspector.hpp>

#include "redis/dialects/foreign_recipe.hpp"
#include "redis/locks/blocking_request.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// As inspector::status tells it, but for the dialect; somebody has it. Throws failure when the
// client registry cannot be asked.
lock_status show_foreign(runtime::client_core& core, const dialects::foreign_recipe& layout,
                         std::string name, dialects::foreign_holders found,
                         const redis_locks::bound& within = {});

// inspector::status in a dialect that is another library's.
lock_status foreign_status(runtime::client_core& core, std::string_view name, const dialect& how,
                           const redis_locks::bound& within = {});

}  // namespace holdfast::inspection
