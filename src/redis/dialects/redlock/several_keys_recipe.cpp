#include "redis/dialects/redlock/several_keys_recipe.hpp"

#include <cassert>
#include <cstdint>

#include "holdfast_scripts.hpp"

namespace holdfast::dialects {

void several_keys_recipe::write_acquire(const claim& wanted, bool, server_time not_after,
                                        resp::writer& out) const {
  out.call(acquisition(), keys_of(wanted), 3);
  write_keys(wanted, out);
  out.arg(owner_of(wanted));
  out.arg(kept_time(wanted).count());
  out.arg(micros(not_after));
}

void several_keys_recipe::write_renew(std::span<const claim* const> held, server_time not_after,
                                      resp::writer& out) const {
  assert(!held.empty() && held.size() <= renew_batch);
  std::size_t keys = 0;
  for (const claim* one : held) keys += keys_of(*one);
  out.call(renewal(), keys, 1 + 4 * held.size());
  for (const claim* one : held) write_keys(*one, out);
  out.arg(micros(not_after));
  for (const claim* one : held) {
    out.arg(owner_of(*one));
    out.arg(kept_time(*one).count());
    out.arg(static_cast<std::int64_t>(keys_of(*one)));
    out.arg(static_cast<std::int64_t>(needed_of(*one)));
  }
}

void several_keys_recipe::write_release(const claim& held, resp::writer& out) const {
  out.call(scripts::redlock_release, keys_of(held), 2);
  write_keys(held, out);
  out.arg(owner_of(held));
  out.arg(static_cast<std::int64_t>(needed_of(held)));
}

// Of the key that its name stands for.
const resp::script& several_keys_recipe::inspection() const noexcept {
  return scripts::token_inspect;
}

const resp::script& several_keys_recipe::renewal() const noexcept { return scripts::redlock_renew; }

}  // namespace holdfast::dialects
