#include "redis/dialects/redlock/redlock_recipe.hpp"

#include <algorithm>
#include <utility>

#include "base/sha1.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/base64.hpp"
#include "redis/dialects/token/token_recipe.hpp"

namespace holdfast::dialects {

std::string redlock_value(redlock_library library, const request_id& owner) {
  if (library == redlock_library::node_redlock) return drawn_value(token_form::hex, owner);
  // 16 bytes: the missing bits of the last letter are zero.
  return as_base64(sha1_hex(owner.text()).substr(0, 32) + '0') + "==";
}

redlock_recipe::redlock_recipe(habits usual, redlock_library library,
                               std::vector<std::string> further)
    : several_keys_recipe(usual), library_(library), further_(std::move(further)) {}

std::string redlock_recipe::owner_of(const claim& c) const {
  return redlock_value(library_, c.owner);
}

// The name may be one of the further resources.
std::size_t redlock_recipe::keys_of(const claim& c) const {
  const auto same = std::ranges::count(further_, c.key->name());
  return 1 + further_.size() - static_cast<std::size_t>(same);
}

std::vector<std::string> redlock_recipe::all_keys_of(std::string_view name) const {
  std::vector<std::string> all{std::string(name)};
  all.insert(all.end(), further_.begin(), further_.end());
  return all;
}

void redlock_recipe::write_keys(const claim& c, resp::writer& out) const {
  const std::string& name = c.key->name();
  out.arg(name);
  for (const auto& one : further_) {
    if (one != name) out.arg(one);
  }
}

const resp::script& redlock_recipe::acquisition() const noexcept {
  return scripts::redlock_acquire;
}

}  // namespace holdfast::dialects
