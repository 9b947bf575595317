// Grants of several locks on the way to being one.
#pragma once

#include <string>
#include <vector>

#include <holdfast/lock.hpp>

#include "lease/step.hpp"
#include "runtime/holding.hpp"

namespace holdfast::several {

// In the order in which everybody acquires them.
using lock_list = std::vector<lock>;

// Grants on the way: those that are not taken out are given back.
class gathered {
 public:
  explicit gathered(const lock_list& wanted) : wanted_(&wanted) { got_.reserve(wanted.size()); }
  ~gathered() { give_back(); }
  gathered(const gathered&) = delete;
  gathered& operator=(const gathered&) = delete;

  // The next to ask for; null when there are all.
  const lock* next() const noexcept {
    return got_.size() < wanted_->size() ? &(*wanted_)[got_.size()] : nullptr;
  }
  void add(runtime::grant&& one) { got_.push_back(std::move(one)); }
  void add(std::vector<runtime::grant>&& all) { got_ = std::move(all); }
  bool are_held() const noexcept;
  void give_back() noexcept;
  runtime::grant join(const std::string& name);

 private:
  const lock_list* wanted_;
  std::vector<runtime::grant> got_;
};

// Why there is not everything: `part` was not obtained.
leasing::outcome without(const lock& part, leasing::outcome outcome);
// Something was lost before there was everything, and nobody waits.
inline leasing::outcome lost_on_the_way() {
  return {.code = errc::busy, .detail = "one of them was lost before all were there"};
}

}  // namespace holdfast::several
