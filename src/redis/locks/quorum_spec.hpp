// The description of a lock of a quorum.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "base/lock_key.hpp"
#include "base/time.hpp"
#include "lease/back_off.hpp"
#include "redis/dialects/quorum_recipe.hpp"
#include "redis/locks/quorum_group.hpp"

namespace holdfast::redis_locks {

// Immutable; shared by all copies of a lock and by its leases.
struct quorum_spec {
  std::shared_ptr<quorum_group> group;
  std::shared_ptr<const lock_key> key;
  std::shared_ptr<const dialects::quorum_recipe> recipe;
  milliseconds lease;
  milliseconds delay;  // see mutex_options::lock_delay
  bool renews;
  bool refuses_reentry;
  // For a lock of another library, whose members notify nobody that it is free: a waiter asks again
  // after such pauses.
  std::optional<leasing::pauses> asks_after{};

  // Its members tell us when it is free, as far as they can.
  bool hears() const noexcept { return !asks_after && group->hears(); }

  milliseconds kept_time() const noexcept { return lease + delay; }
  // How long a member may take before it is done without: much less than the lease, so that enough
  // of that is left.
  milliseconds member_timeout() const noexcept {
    return std::min(group->response_timeout(), std::max(lease / 4, milliseconds{1}));
  }
};

}  // namespace holdfast::redis_locks
