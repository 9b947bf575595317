// Symfony's RedisStore, since 5.2: a sorted set of tokens, and whether the one there may write:
// docs/wire/symfony.md.
#pragma once

#include <memory>
#include <string>

#include "redis/dialects/foreign_recipe.hpp"

namespace holdfast::dialects {

// One layout for a mutex, which is a writer, and for readers.
class symfony_recipe final : public foreign_recipe,
                             public std::enable_shared_from_this<symfony_recipe> {
 public:
  // Keys are `prefix` and the name.
  symfony_recipe(habits usual, std::string prefix);

  std::string key_of(std::string_view name) const override { return prefix_ + std::string(name); }
  std::shared_ptr<const foreign_recipe> read_write() const override {
    return weak_from_this().lock();
  }

  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_release(const claim&, resp::writer&) const override;

 private:
  const resp::script& inspection() const noexcept override;
  const resp::script& renewal() const noexcept override;
  // 44 characters: base64 of 32 bytes.
  std::string owner_of(const claim& c) const override;

  const std::string prefix_;
};

}  // namespace holdfast::dialects
