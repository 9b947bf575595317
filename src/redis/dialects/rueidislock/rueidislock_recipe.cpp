#include "redis/dialects/rueidislock/rueidislock_recipe.hpp"

#include <utility>

#include "base/sha1.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/base64.hpp"

namespace holdfast::dialects {

rueidislock_recipe::rueidislock_recipe(habits usual, std::string prefix, std::uint32_t majority)
    : several_keys_recipe(usual), prefix_(std::move(prefix)), majority_(majority) {}

std::string rueidislock_recipe::key_of(std::string_view name, std::size_t at) const {
  return prefix_ + ':' + std::to_string(at) + ':' + std::string(name);
}

// As long as its library's, which are any bytes.
std::string rueidislock_recipe::owner_of(const claim& c) const {
  return as_base64(sha1_hex(c.owner.text()).substr(0, 36));
}

void rueidislock_recipe::write_keys(const claim& c, resp::writer& out) const {
  for (std::size_t at = 0; at < keys_of(c); ++at) out.arg(key_of(c.key->name(), at));
}

const resp::script& rueidislock_recipe::acquisition() const noexcept {
  return scripts::rueidislock_acquire;
}

}  // namespace holdfast::dialects
