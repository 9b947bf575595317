#include "redis/dialects/shedlock/shedlock_recipe.hpp"

#include <utility>

#include "holdfast_scripts.hpp"
#include "redis/dialects/token/token_recipe.hpp"

namespace holdfast::dialects {

shedlock_recipe::shedlock_recipe(habits usual, std::string prefix, std::string host)
    : foreign_recipe(usual), prefix_(std::move(prefix)), host_(std::move(host)) {}

std::shared_ptr<const foreign_recipe> shedlock_recipe::kept_for(milliseconds least) const {
  auto other = usual();
  other.at_least = least;
  return std::make_shared<const shedlock_recipe>(other, prefix_, host_);
}

std::string_view shedlock_recipe::shown(std::string_view owner) const {
  const auto host = owner.rfind('@');
  return host == owner.npos ? foreign_recipe::shown(owner) : owner.substr(0, owner.find(':', host));
}

std::string shedlock_recipe::owner_of(const claim& c) const {
  return '@' + host_ + ':' + drawn_value(token_form::uuid, c.owner);
}

void shedlock_recipe::write_acquire(const claim& wanted, bool, server_time not_after,
                                    resp::writer& out) const {
  out.call(scripts::shedlock_acquire, 1, 3);
  out.arg(key_of(wanted.key->name()));
  out.arg(owner_of(wanted));
  out.arg(kept_time(wanted).count());
  out.arg(micros(not_after));
}

void shedlock_recipe::write_release(const claim& held, milliseconds least,
                                    resp::writer& out) const {
  out.call(scripts::shedlock_release, 1, 2);
  out.arg(key_of(held.key->name()));
  out.arg(owner_of(held));
  out.arg(least.count());
}

void shedlock_recipe::write_release(const claim& held, resp::writer& out) const {
  write_release(held, usual().at_least, out);
}

void shedlock_recipe::write_withdraw(const claim& wanted, resp::writer& out) const {
  write_release(wanted, milliseconds{0}, out);
}

const resp::script& shedlock_recipe::inspection() const noexcept { return scripts::token_inspect; }

const resp::script& shedlock_recipe::renewal() const noexcept { return scripts::shedlock_renew; }

}  // namespace holdfast::dialects
