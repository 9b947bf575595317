// Redisson's RReadWriteLock: a hash with a mode, its readers or its writer, and a key beside it for
// each hold of a reader: docs/wire/redisson.md.
#pragma once

#include <string>

#include "redis/dialects/foreign_recipe.hpp"
#include "redis/dialects/redisson/messages.hpp"

namespace holdfast::dialects {

class read_write_recipe final : public foreign_recipe {
 public:
  explicit read_write_recipe(messages how = messages::plain) noexcept;

  std::string key_of(std::string_view name) const override { return std::string(name); }
  std::string channel_of(std::string_view name) const override;
  std::shared_ptr<const foreign_recipe> in_cluster() const override;
  bool shards_messages() const noexcept override { return how_ == messages::sharded; }

  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_release(const claim&, resp::writer&) const override;

 private:
  const resp::script& inspection() const noexcept override;
  const resp::script& renewal() const noexcept override;
  std::string owner_of(const claim&) const override;

  const messages how_;
};

}  // namespace holdfast::dialects
