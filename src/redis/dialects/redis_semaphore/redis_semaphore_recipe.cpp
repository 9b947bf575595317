#include "redis/dialects/redis_semaphore/redis_semaphore_recipe.hpp"

#include "holdfast_scripts.hpp"
#include "redis/dialects/token/token_recipe.hpp"

namespace holdfast::dialects {

redis_semaphore_recipe::redis_semaphore_recipe(habits usual) noexcept : foreign_recipe(usual) {}

std::string redis_semaphore_recipe::owner_of(const claim& c) const {
  return std::to_string(usual().longest_lease.count()) + ' ' + std::to_string(c.wants->weight) +
         ' ' + drawn_value(token_form::uuid, c.owner);
}

void redis_semaphore_recipe::write_acquire(const claim& wanted, bool, server_time not_after,
                                           resp::writer& out) const {
  out.call(scripts::redis_semaphore_acquire, 1, 4);
  out.arg(key_of(wanted.key->name()));
  out.arg(owner_of(wanted));
  out.arg(kept_time(wanted).count());
  out.arg(micros(not_after));
  out.arg(std::int64_t{wanted.wants->limit});
}

void redis_semaphore_recipe::write_release(const claim& held, resp::writer& out) const {
  out.call(scripts::redis_semaphore_release, 1, 1);
  out.arg(key_of(held.key->name()));
  out.arg(owner_of(held));
}

void redis_semaphore_recipe::write_inspect(std::string_view name, resp::writer& out) const {
  out.call(inspection(), 1, 1);
  out.arg(key_of(name));
  out.arg(usual().longest_lease.count());
}

const resp::script& redis_semaphore_recipe::inspection() const noexcept {
  return scripts::redis_semaphore_inspect;
}

const resp::script& redis_semaphore_recipe::renewal() const noexcept {
  return scripts::redis_semaphore_renew;
}

}  // namespace holdfast::dialects
