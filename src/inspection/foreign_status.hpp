// The holders of a lock of another library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/inspector.hpp>

#include "inspection/registry.hpp"
#include "redis/dialects/foreign_recipe.hpp"
#include "redis/locks/blocking_request.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// The client behind each holder; empty where it is none of ours.
std::vector<known_clients::wanted> clients_of(const dialects::foreign_recipe& layout,
                                              const dialects::foreign_holders& found);

// As inspector::status tells it, but for the dialect; somebody has it. `known` has learnt, or
// learns, the clients.
lock_status show_foreign(known_clients& known, const dialects::foreign_recipe& layout,
                         std::string name, dialects::foreign_holders found);

// inspector::status in a dialect that is another library's.
lock_status foreign_status(runtime::client_core& core, std::string_view name, const dialect& how,
                           const redis_locks::bound& within = {});

}  // namespace holdfast::inspection
