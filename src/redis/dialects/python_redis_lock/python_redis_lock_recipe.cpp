#include "redis/dialects/python_redis_lock/python_redis_lock_recipe.hpp"

#include "base/lock_key.hpp"
#include "base/sha1.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/base64.hpp"

namespace holdfast::dialects {
namespace {

std::string signal_of(std::string_view name) { return "lock-signal:" + std::string(name); }

}  // namespace

python_redis_lock_recipe::python_redis_lock_recipe(habits usual)
    : token_recipe(usual, {.key_prefix = "lock:"}) {}

std::string python_redis_lock_recipe::owner_of(const claim& c) const {
  return as_base64(sha1_hex(c.owner.text()).substr(0, 36));
}

bool python_redis_lock_recipe::keeps_one_slot(std::string_view name) const {
  return hash_slot(key_of(name)) == hash_slot(signal_of(name));
}

announcement python_redis_lock_recipe::told_when_free(std::string_view name) const {
  return {"LPUSH", signal_of(name), "1"};
}

void python_redis_lock_recipe::write_release(const claim& held, resp::writer& out) const {
  const std::string& name = held.key->name();
  out.call(scripts::python_redis_lock_release, 2, 1);
  out.arg(key_of(name));
  out.arg(signal_of(name));
  out.arg(owner_of(held));
}

}  // namespace holdfast::dialects
