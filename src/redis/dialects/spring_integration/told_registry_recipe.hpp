// A lock of Spring Integration's RedisLockRegistry in the mode PUB_SUB_LOCK: a plain one whose
// releases are made known on a channel of its own: docs/wire/spring_integration.md.
#pragma once

#include <string>

#include "redis/dialects/token/token_recipe.hpp"

namespace holdfast::dialects {

class told_registry_recipe final : public token_recipe {
 public:
  told_registry_recipe(habits usual, const std::string& registry_key);

  std::string channel_of(std::string_view name) const override;

  std::shared_ptr<const foreign_recipe> with_fence_counter() const override {
    return counted(*this);
  }
  void write_release(const claim&, resp::writer&) const override;
  announcement told_when_free(std::string_view name) const override {
    return {"PUBLISH", channel_of(name), key_of(name)};
  }

 private:
  const std::string channel_prefix_;
};

}  // namespace holdfast::dialects
