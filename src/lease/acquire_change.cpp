// An attempt to change what is held: how it is given up.
#include "lease/acquire_machine.hpp"

namespace holdfast::leasing {

step acquire_machine::on_not_undone(monotonic_time now) {
  step next = told_ ? give_back(now)
                    : tell(errc::lost,
                           "the lease was changed, the answer came too late to be believed, and "
                           "others have come in beside it since",
                           now);
  next.cannot_undo = true;
  return next;
}

// Who gives up a change that was granted becomes what he was, and only withdrawing does that.
ask acquire_machine::way_back() const noexcept {
  const bool changes = claim_->wants != nullptr && claim_->wants->replaced;
  return changes ? ask::withdraw : ask::release;
}

}  // namespace holdfast::leasing
