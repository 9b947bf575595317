// Barriers, which open for all arrived parties when none is missing. Layout and scripts:
// docs/wire/holdfast.md.
#pragma once

#include "redis/dialects/holdfast/gate.hpp"

namespace holdfast::dialects {

// A claim's demand says as its limit how many parties there are. The major of a grant is the
// generation: the same for all its parties, and above those before.
class barrier_recipe final : public gate_recipe {
 public:
  family queue_family() const noexcept override { return family::barrier; }
  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_withdraw(const claim&, resp::writer&) const override;
};

}  // namespace holdfast::dialects
