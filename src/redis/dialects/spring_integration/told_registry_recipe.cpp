#include "redis/dialects/spring_integration/told_registry_recipe.hpp"

#include "holdfast_scripts.hpp"

namespace holdfast::dialects {

told_registry_recipe::told_registry_recipe(habits usual, const std::string& registry_key)
    : token_recipe(usual, {.key_prefix = registry_key + ':', .form = token_form::uuid}),
      channel_prefix_(registry_key + "-channel:") {}

std::string told_registry_recipe::channel_of(std::string_view name) const {
  return channel_prefix_ + key_of(name);
}

void told_registry_recipe::write_release(const claim& held, resp::writer& out) const {
  const std::string& name = held.key->name();
  out.call(scripts::spring_integration_release, 1, 2);
  out.arg(key_of(name));
  out.arg(owner_of(held));
  out.arg(channel_of(name));
}

}  // namespace holdfast::dialects
