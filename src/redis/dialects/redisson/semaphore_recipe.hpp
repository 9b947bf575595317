// Redisson's RPermitExpirableSemaphore: how many permits are free, and beside it for each that is
// in use when its lease ends. And its RSemaphore, which knows only the former; of ours we note the
// latter at a key of our own: docs/wire/redisson.md.
#pragma once

#include <cstdint>
#include <string>

#include "redis/dialects/foreign_recipe.hpp"
#include "redis/dialects/redisson/messages.hpp"

namespace holdfast::dialects {

enum class permit_leases : std::uint8_t { theirs, ours };

class semaphore_recipe final : public foreign_recipe {
 public:
  explicit semaphore_recipe(permit_leases whose, messages how = messages::plain) noexcept;

  bool is_semaphore() const noexcept override { return true; }
  bool counts_free_permits() const noexcept override { return true; }
  // Where the leases are: that is what is renewed, and looked at.
  std::string key_of(std::string_view name) const override;
  std::string channel_of(std::string_view name) const override;
  std::shared_ptr<const foreign_recipe> in_cluster() const override;
  bool shards_messages() const noexcept override { return how_ == messages::sharded; }

  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_release(const claim&, resp::writer&) const override;
  // Nobody knows how many permits of a RSemaphore others have.
  bool sets_permits() const noexcept override { return whose_ == permit_leases::theirs; }
  void write_set_permits(std::string_view name, std::uint32_t count, server_time not_after,
                         resp::writer&) const override;

 private:
  const resp::script& inspection() const noexcept override;
  const resp::script& renewal() const noexcept override;
  std::string owner_of(const claim&) const override;

  const permit_leases whose_;
  const messages how_;
};

}  // namespace holdfast::dialects
