#include "several/gathered.hpp"

#include <algorithm>
#include <memory>

#include "base/printable.hpp"
#include "runtime/client_core.hpp"
#include "runtime/lock_access.hpp"
#include "several/joint_holding.hpp"

namespace holdfast::several {

using detail::lock_access;
using runtime::grant;

bool gathered::are_held() const noexcept {
  return std::ranges::all_of(got_, [](const grant& one) { return one.of->held(); });
}

// In a forked child these parts are the parent's.
void gathered::give_back() noexcept {
  if (!lock_access::core(wanted_->front())->engine().is_in_its_process()) return;
  for (const auto& one : got_) one.of->give_back({});
  got_.clear();
}

grant gathered::join(const std::string& name) {
  const auto largest = std::ranges::max(got_, {}, &grant::token).token;
  const bool waited = std::ranges::any_of(got_, &grant::waited);
  grant all{std::make_shared<joint_holding>(name, *wanted_, got_), largest, waited};
  got_.clear();
  return all;
}

leasing::outcome without(const lock& part, leasing::outcome outcome) {
  const auto of = "'" + printable(part.name()) + "' was not obtained";
  outcome.detail = outcome.detail.empty() ? of : of + ": " + outcome.detail;
  return outcome;
}

}  // namespace holdfast::several
