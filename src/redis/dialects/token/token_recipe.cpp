#include "redis/dialects/token/token_recipe.hpp"

#include <charconv>
#include <utility>

#include "base/sha1.hpp"
#include "holdfast_scripts.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::string_view letters =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

std::string as_letters(std::string_view digits) {
  std::string text;
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    unsigned byte = 0;
    std::from_chars(digits.data() + at, digits.data() + at + 2, byte, 16);
    text.push_back(letters[byte % letters.size()]);
  }
  return text;
}

}  // namespace

std::string drawn_value(token_form form, const request_id& owner) {
  std::string digits = sha1_hex(owner.text()).substr(0, 32);
  switch (form) {
    case token_form::hex:
      return digits;
    case token_form::uuid:
      return with_hyphens(std::move(digits));
    case token_form::letters:
      return as_letters(digits);
  }
  return digits;
}

token_recipe::token_recipe(habits usual, token_texts texts)
    : foreign_recipe(usual), texts_(std::move(texts)) {}

std::string token_recipe::owner_of(const claim& c) const {
  return texts_.fixed_value.empty() ? texts_.value_prefix + drawn_value(texts_.form, c.owner)
                                    : texts_.fixed_value;
}

void token_recipe::write_acquire(const claim& wanted, bool resend, server_time not_after,
                                 resp::writer& out) const {
  const bool draws = usual().has_tokens;
  if (draws) {
    out.call(scripts::token_acquire_counted, 2, 5);
  } else {
    out.call(scripts::token_acquire, 1, 4);
  }
  out.arg(key_of(wanted.key->name()));
  if (draws) out.arg(wanted.key->fence_key());
  out.arg(owner_of(wanted));
  out.arg(kept_time(wanted).count());
  out.arg(micros(not_after));
  out.arg(resend ? "again" : "first");
  if (draws) out.arg(static_cast<std::int64_t>(wanted.floor));
}

std::shared_ptr<const foreign_recipe> token_recipe::with_fence_counter() const {
  return counted(*this);
}

void token_recipe::write_release(const claim& held, resp::writer& out) const {
  out.call(scripts::token_release, 1, 1);
  out.arg(key_of(held.key->name()));
  out.arg(owner_of(held));
}

const resp::script& token_recipe::inspection() const noexcept { return scripts::token_inspect; }

const resp::script& token_recipe::renewal() const noexcept { return scripts::holdfast_renew; }

}  // namespace holdfast::dialects
