// Redisson's RLock: a hash whose field is the owner and whose value counts the owner's holds, and a
// message when it is released; its RSpinLock, without the message; and its RFencedLock, with a
// counter of tokens beside it: docs/wire/redisson.md.
#pragma once

#include <string>

#include <holdfast/dialect.hpp>

#include "redis/dialects/foreign_recipe.hpp"
#include "redis/dialects/redisson/messages.hpp"

namespace holdfast::dialects {

// As Redisson names an owner: the uuid of a client, `:`, the number of a thread. Each attempt of
// ours is a thread of its own, so that a resend is known, and counts once.
std::string redisson_owner(const request_id& owner);

// The text behind the owner of a write lock.
inline constexpr std::string_view redisson_writer = ":write";

// Redisson's prefixName: no braces around a name that has some.
std::string redisson_prefixed(std::string prefix, std::string_view name);

class redisson_recipe final : public foreign_recipe {
 public:
  explicit redisson_recipe(redisson_lock which = redisson_lock::plain,
                           messages how = messages::plain) noexcept;

  std::string key_of(std::string_view name) const override { return std::string(name); }
  std::string channel_of(std::string_view name) const override;
  std::shared_ptr<const foreign_recipe> in_cluster() const override;
  bool shards_messages() const noexcept override { return how_ == messages::sharded; }
  // Of a plain one only: no other has a read-write lock, a fair one, a semaphore or a latch beside
  // it.
  std::shared_ptr<const foreign_recipe> read_write() const override { return read_write_; }
  std::shared_ptr<const foreign_recipe> fair() const override { return fair_; }
  std::shared_ptr<const foreign_recipe> semaphore() const override { return semaphore_; }
  std::shared_ptr<const foreign_latch> latch() const override { return latch_; }
  // Where the last token is kept, of a fenced lock.
  static std::string token_key_of(std::string_view name);
  std::string client_of(std::string_view owner) const override;
  // A name of a client and a thread, which every user of such a lock can read.
  std::string_view shown(std::string_view owner) const override;

  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_release(const claim&, resp::writer&) const override;
  announcement told_when_free(std::string_view name) const override;

 private:
  const resp::script& inspection() const noexcept override;
  const resp::script& renewal() const noexcept override;
  std::string owner_of(const claim& c) const override { return redisson_owner(c.owner); }

  const redisson_lock which_;
  const messages how_;
  const std::shared_ptr<const foreign_recipe> read_write_;
  const std::shared_ptr<const foreign_recipe> fair_;
  const std::shared_ptr<const foreign_recipe> semaphore_;
  const std::shared_ptr<const foreign_latch> latch_;
};

}  // namespace holdfast::dialects
