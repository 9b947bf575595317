#include "dialects/redlock/redlock_recipe.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/sha1.hpp"
#include "dialects/base64.hpp"
#include "dialects/token/token_recipe.hpp"
#include "holdfast_scripts.hpp"

namespace holdfast::dialects {

std::string redlock_value(redlock_library library, const request_id& owner) {
  if (library == redlock_library::node_redlock) return drawn_value(token_form::hex, owner);
  // 16 bytes: what is missing of the last letter is zero.
  return as_base64(sha1_hex(owner.text()).substr(0, 32) + '0') + "==";
}

redlock_recipe::redlock_recipe(habits usual, redlock_library library,
                               std::vector<std::string> further)
    : foreign_recipe(usual), library_(library), further_(std::move(further)) {}

std::string redlock_recipe::owner_of(const claim& c) const {
  return redlock_value(library_, c.owner);
}

// The name may be one of the further resources.
std::size_t redlock_recipe::keys_of(const claim& c) const {
  const auto same = std::ranges::count(further_, c.key->name());
  return 1 + further_.size() - static_cast<std::size_t>(same);
}

void redlock_recipe::write_keys(const claim& c, resp::writer& out) const {
  const std::string& name = c.key->name();
  out.arg(name);
  for (const auto& one : further_) {
    if (one != name) out.arg(one);
  }
}

void redlock_recipe::write_acquire(const claim& wanted, bool, server_time not_after,
                                   resp::writer& out) const {
  out.call(scripts::redlock_acquire, keys_of(wanted), 3);
  write_keys(wanted, out);
  out.arg(owner_of(wanted));
  out.arg(kept_time(wanted).count());
  out.arg(micros(not_after));
}

void redlock_recipe::write_renew(std::span<const claim* const> held, server_time not_after,
                                 resp::writer& out) const {
  assert(!held.empty() && held.size() <= renew_batch);
  std::size_t keys = 0;
  for (const claim* one : held) keys += keys_of(*one);
  out.call(renewal(), keys, 1 + 3 * held.size());
  for (const claim* one : held) write_keys(*one, out);
  out.arg(micros(not_after));
  for (const claim* one : held) {
    out.arg(owner_of(*one));
    out.arg(kept_time(*one).count());
    out.arg(static_cast<std::int64_t>(keys_of(*one)));
  }
}

void redlock_recipe::write_release(const claim& held, resp::writer& out) const {
  out.call(scripts::redlock_release, keys_of(held), 1);
  write_keys(held, out);
  out.arg(owner_of(held));
}

const resp::script& redlock_recipe::inspection() const noexcept { return scripts::token_inspect; }

const resp::script& redlock_recipe::renewal() const noexcept { return scripts::redlock_renew; }

}  // namespace holdfast::dialects
