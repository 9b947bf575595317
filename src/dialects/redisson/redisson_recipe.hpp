// Redisson's RLock: a hash whose field is the owner and whose value counts his holds, and a message
// when it is released; its RSpinLock, without the message; and its RFencedLock, with a counter of
// tokens beside it: docs/wire/redisson.md.
#pragma once

#include <string>

#include <holdfast/dialect.hpp>

#include "dialects/foreign_recipe.hpp"

namespace holdfast::dialects {

// As Redisson names an owner: the uuid of a client, `:`, the number of a thread. Each attempt of
// ours is a thread of its own, so that a resend is known, and counts once.
std::string redisson_owner(const request_id& owner);

class redisson_recipe final : public foreign_recipe {
 public:
  explicit redisson_recipe(redisson_lock which = redisson_lock::plain) noexcept;

  std::string key_of(std::string_view name) const override { return std::string(name); }
  std::string channel_of(std::string_view name) const override;
  // Where the last token is kept, of a fenced lock.
  static std::string token_key_of(std::string_view name);
  std::string client_of(std::string_view owner) const override;
  // A name of a client and a thread, which every user of such a lock can read.
  std::string_view shown(std::string_view owner) const override { return owner; }

  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_release(const claim&, resp::writer&) const override;

 private:
  const resp::script& inspection() const noexcept override;
  const resp::script& renewal() const noexcept override;
  std::string owner_of(const claim& c) const override { return redisson_owner(c.owner); }

  const redisson_lock which_;
};

}  // namespace holdfast::dialects
