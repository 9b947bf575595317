// Where a lock of another library can be, and its library's habits.
#pragma once

#include <string_view>

#include "redis/dialects/foreign_recipe.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

// Throws failure{unsupported} for a client of a tenant, whose locks are all named for it. Those of
// other libraries cannot be, since no such library knows of tenants.
void refuse_for_tenant(client_core& core);

// Throws failure{unsupported} where this lock of another library cannot be: over a cluster, when
// its keys have several hash slots; and for a tenant.
void check_place(client_core& core, const dialects::foreign_recipe& layout, std::string_view name);

// How such a lock behaves, for its driver.
runtime::usage usage_of(const dialects::foreign_recipe& layout) noexcept;

}  // namespace holdfast::redis_locks
