// The answers of all locks of the holdfast layout, which are of one form.
#pragma once

#include "redis/dialects/recipe.hpp"

namespace holdfast::dialects {

class native_recipe : public recipe {
 public:
  acquire_verdict read_acquire(const claim&, const resp::value&) const override;
  renew_verdict read_renew(const resp::value&, std::size_t index) const final;
  release_verdict read_release(const resp::value&) const override;
};

}  // namespace holdfast::dialects
