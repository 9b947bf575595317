// What a holdfast::lock knows: which lock, how it is written, how it behaves.
#pragma once

#include "base/lock_key.hpp"
#include "base/time.hpp"
#include "dialects/recipe.hpp"

namespace holdfast::runtime {

// Immutable; shared by all copies of a lock and by its leases.
struct lock_spec {
  lock_key key;
  const dialects::recipe* recipe;
  milliseconds lease;
  bool renews;
  std::uint32_t queue_limit;
};

}  // namespace holdfast::runtime
