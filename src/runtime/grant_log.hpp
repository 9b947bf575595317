// Writes down who had which lock, for people who ask later: client_options::audit.
#pragma once

#include <holdfast/observer.hpp>

#include "base/time.hpp"
#include "runtime/holding.hpp"

namespace holdfast::runtime {

// Thread safety: all members from any thread.
class grant_log {
 public:
  grant_log() = default;
  grant_log(const grant_log&) = delete;
  grant_log& operator=(const grant_log&) = delete;
  virtual ~grant_log() = default;

  // `what` is a grant, or the end of one. `granted_at` is the same for both, and tells the grants
  // of a client apart. Does not wait, and does nothing where there is no memory.
  virtual void note(const event& what, const holding& of, monotonic_time granted_at) noexcept = 0;
};

}  // namespace holdfast::runtime
