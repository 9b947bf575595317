// A lease on its way back: how long its caller waits for the end of that, and its client for
// closing.
#pragma once

#include <algorithm>
#include <optional>

#include "base/time.hpp"
#include "lease/lease_machine.hpp"
#include "lease/release_machine.hpp"
#include "lease/step.hpp"
#include "substrate/claim.hpp"

namespace holdfast::leasing {

class giving_back : public release_machine {
 public:
  // The claim is the caller's. With a move it is patient for less time than its caller.
  giving_back(const substrate::claim& claim, const lease_machine& held,
              milliseconds response_timeout, monotonic_time now)
      : release_machine(claim, held.deadline(), claim.owner.counter(),
                        std::min(longest_move, response_timeout / 2),
                        response_timeout + extended_by(held, claim)),
        tell_at_(now + response_timeout),
        delays_closing_(held.held(now) && !held.is_overdue(now)) {}

  // Whether its caller has waited long enough: it is tried again until the lease ends or longer.
  bool outlasts_caller(const release_step& next, monotonic_time now) {
    if (next.done && !next.finished) delays_closing_ = false;
    const auto goes_on_at = next.resend ? std::optional{now} : next.wake_at;
    return goes_on_at && *goes_on_at >= tell_at_;
  }
  // Not when the server has left it without an answer, nor when the lease has ended.
  bool delays_closing() const noexcept { return delays_closing_; }

 private:
  // The last renewal may come late, or have been an extension.
  static milliseconds extended_by(const lease_machine& held, const substrate::claim& claim) {
    return std::max(milliseconds{0}, held.may_be_extended_by() - claim.lease);
  }

  monotonic_time tell_at_;
  bool delays_closing_;
};

}  // namespace holdfast::leasing
