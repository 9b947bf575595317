#include "reference/held_kind.hpp"

#include <algorithm>

namespace holdfast::reference {

lock held_kind::to_change(const client&, const std::string&, const lease&, const want&, const want&,
                          const terms&) const {
  throw std::logic_error("nothing of this kind is changed in place");
}

mutex_options options_of(const terms& how) {
  return {.lease = how.lease,
          .renewal = how.fixed ? renewal::none : renewal::automatic,
          .fair = how.fair,
          .retain = how.retain,
          .queue_limit = how.queue_limit};
}

bool all_go_together(const std::vector<want>& held, const want& asked) {
  return std::ranges::all_of(held, [&](const want& one) { return go_together(one.in, asked.in); });
}

}  // namespace holdfast::reference
