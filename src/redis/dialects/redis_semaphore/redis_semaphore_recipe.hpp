// Semaphore and MultiSemaphore of redis-semaphore (npm): a sorted set of the permits in use, and
// when each was refreshed: docs/wire/redis_semaphore.md.
#pragma once

#include <string>

#include "redis/dialects/foreign_recipe.hpp"

namespace holdfast::dialects {

class redis_semaphore_recipe final : public foreign_recipe {
 public:
  // All users of such a semaphore take back permits that were not refreshed for
  // `usual.longest_lease`.
  explicit redis_semaphore_recipe(habits usual) noexcept;

  bool is_semaphore() const noexcept override { return true; }
  std::string key_of(std::string_view name) const override {
    return "semaphore:" + std::string(name);
  }

  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_release(const claim&, resp::writer&) const override;
  void write_inspect(std::string_view name, resp::writer&) const override;

 private:
  const resp::script& inspection() const noexcept override;
  const resp::script& renewal() const noexcept override;
  // The timeout, how many permits, and the uuid that their names begin with.
  std::string owner_of(const claim&) const override;
};

}  // namespace holdfast::dialects
