// Lock of python-redis-lock: a plain one, and a list beside it for waiters:
// docs/wire/python_redis_lock.md.
#pragma once

#include <string>

#include "redis/dialects/token/token_recipe.hpp"

namespace holdfast::dialects {

class python_redis_lock_recipe final : public token_recipe {
 public:
  explicit python_redis_lock_recipe(habits usual);

  std::shared_ptr<const foreign_recipe> with_fence_counter() const override {
    return counted(*this);
  }
  void write_release(const claim&, resp::writer&) const override;
  bool keeps_one_slot(std::string_view name) const override;
  announcement told_when_free(std::string_view name) const override;

 private:
  // 24 characters: base64 of 18 bytes.
  std::string owner_of(const claim& c) const override;
};

}  // namespace holdfast::dialects
