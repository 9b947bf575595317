// Who holds a lock of another library.
#pragma once

#include <string>

#include <holdfast/inspector.hpp>

#include "dialects/foreign_recipe.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::api {

// As inspector::status tells it, but for the dialect; somebody has it. Throws failure when the
// client registry cannot be asked.
lock_status show_foreign(runtime::client_core& core, const dialects::foreign_recipe& layout,
                         std::string name, dialects::foreign_holders found);

}  // namespace holdfast::api
