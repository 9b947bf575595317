// One text at one key, written by SET NX PX and deleted by a client that knows it:
// docs/wire/token.md.
#pragma once

#include <string>

#include <holdfast/dialect.hpp>

#include "redis/dialects/foreign_recipe.hpp"

namespace holdfast::dialects {

// The text that an attempt writes in such a form: the same in each resend, unlike that of any other
// attempt, and of no use for guessing one.
std::string drawn_value(token_form form, const request_id& owner);

// go-zero adds so much to the seconds of a lease.
inline constexpr short_milliseconds go_zero_surplus{500};

// How such a lock is written.
struct token_texts {
  std::string key_prefix{};
  std::string key_suffix{};
  token_form form = token_form::hex;
  std::string value_prefix{};
  std::string fixed_value{};  // empty: one is drawn
};

class token_recipe : public foreign_recipe {
 public:
  token_recipe(habits usual, token_texts texts);

  std::string key_of(std::string_view name) const override {
    return texts_.key_prefix + std::string(name) + texts_.key_suffix;
  }

  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  std::shared_ptr<const foreign_recipe> with_fence_counter() const override;
  void write_release(const claim&, resp::writer&) const override;

 protected:
  std::string owner_of(const claim& c) const override;

 private:
  const resp::script& inspection() const noexcept override;
  const resp::script& renewal() const noexcept override;

  const token_texts texts_;
};

}  // namespace holdfast::dialects
