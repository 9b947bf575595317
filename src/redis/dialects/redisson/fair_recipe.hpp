// Redisson's RFairLock: the hash of a RLock, and beside it a queue of the waiters, with the time
// after which each counts as dead: docs/wire/redisson.md.
#pragma once

#include <string>

#include "redis/dialects/foreign_recipe.hpp"
#include "redis/dialects/redisson/messages.hpp"

namespace holdfast::dialects {

class fair_recipe final : public foreign_recipe {
 public:
  explicit fair_recipe(messages how = messages::plain) noexcept;

  std::string key_of(std::string_view name) const override { return std::string(name); }
  static std::string queue_of(std::string_view name);
  static std::string timeouts_of(std::string_view name);
  std::string channel_of(std::string_view name) const override;
  std::shared_ptr<const foreign_recipe> in_cluster() const override;
  bool shards_messages() const noexcept override { return how_ == messages::sharded; }
  std::string told_at(const claim&) const override;
  bool has_queue() const noexcept override { return true; }

  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  // Whether it was granted or waits.
  void write_release(const claim&, resp::writer&) const override;

 private:
  const resp::script& inspection() const noexcept override;
  const resp::script& renewal() const noexcept override;
  std::string owner_of(const claim&) const override;

  const messages how_;
};

}  // namespace holdfast::dialects
