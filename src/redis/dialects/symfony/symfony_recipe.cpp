#include "redis/dialects/symfony/symfony_recipe.hpp"

#include <string_view>
#include <utility>

#include "base/sha1.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/base64.hpp"

namespace holdfast::dialects {
namespace {

bool reads_only(const claim& c) { return c.wants != nullptr && c.wants->mode == 'r'; }

}  // namespace

symfony_recipe::symfony_recipe(habits usual, std::string prefix)
    : foreign_recipe(usual), prefix_(std::move(prefix)) {}

// The missing bits of the last letter are zero, and a `=` stands for the letter that is missing.
std::string symfony_recipe::owner_of(const claim& c) const {
  const std::string attempt{std::string_view{c.owner.text()}};
  const auto digits = sha1_hex(attempt) + sha1_hex(attempt + "2").substr(0, 24);
  auto token = as_base64(digits + "00");
  token.back() = '=';
  return token;
}

void symfony_recipe::write_acquire(const claim& wanted, bool, server_time not_after,
                                   resp::writer& out) const {
  out.call(scripts::symfony_acquire, 1, 4);
  out.arg(key_of(wanted.key->name()));
  out.arg(owner_of(wanted));
  out.arg(kept_time(wanted).count());
  out.arg(micros(not_after));
  out.arg(reads_only(wanted) ? "read" : "write");
}

void symfony_recipe::write_release(const claim& held, resp::writer& out) const {
  out.call(scripts::symfony_release, 1, 1);
  out.arg(key_of(held.key->name()));
  out.arg(owner_of(held));
}

const resp::script& symfony_recipe::inspection() const noexcept { return scripts::symfony_inspect; }

const resp::script& symfony_recipe::renewal() const noexcept { return scripts::symfony_renew; }

}  // namespace holdfast::dialects
