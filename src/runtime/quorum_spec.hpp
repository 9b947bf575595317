// What a lock of a quorum is.
#pragma once

#include <algorithm>
#include <memory>

#include "base/lock_key.hpp"
#include "base/time.hpp"
#include "runtime/quorum_group.hpp"

namespace holdfast::runtime {

// Immutable; shared by all copies of a lock and by its leases.
struct quorum_spec {
  std::shared_ptr<quorum_group> group;
  std::shared_ptr<const lock_key> key;
  milliseconds lease;
  milliseconds delay;  // see lock_options::lock_delay
  bool renews;
  bool refuses_reentry;

  milliseconds kept_time() const noexcept { return lease + delay; }
  // How long a member may take before it is done without: much less than the lease, so that enough
  // of that is left.
  milliseconds member_timeout() const noexcept {
    return std::min(group->response_timeout(), std::max(lease / 4, milliseconds{1}));
  }
};

}  // namespace holdfast::runtime
