// A message on the channel to a request that waits in the queue.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {

struct queue_message {
  std::uint64_t position = 0;  // among all that the server has sent
  monotonic_time heard_at{};
  substrate::granted grant{};  // major 0: no grant, but the first place; another has it for `ttl`
  monotonic_time granted_at{};

  bool is_grant() const noexcept { return grant.major != 0; }

  // An old message, one that was long under way, and one whose time says that the server's clock
  // was set prove nothing: the answer to a question does.
  bool proves_grant(const substrate::claim& of) const noexcept {
    const bool is_new = grant.major > std::max(of.floor, of.granted);
    const bool agrees = granted_at <= heard_at && heard_at - granted_at <= grant.ttl / 2;
    return is_new && agrees;
  }
};

}  // namespace holdfast::leasing
