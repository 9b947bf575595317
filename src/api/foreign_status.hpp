// Who holds a lock of another library.
#pragma once

#include <string>

#include <holdfast/inspector.hpp>

#include "dialects/foreign_recipe.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::api {

// As inspector::status tells it, but for the dialect. Throws failure when the client registry
// cannot be asked.
lock_status show_foreign(runtime::client_core& core, const dialects::foreign_recipe& layout,
                         std::string name, const dialects::foreign_holder& found);

}  // namespace holdfast::api
