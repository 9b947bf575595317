// Redisson's RCountDownLatch: a number, and a channel on which it is said that it is set, and that
// it has opened: docs/wire/redisson.md.
#pragma once

#include <string>

#include "redis/dialects/foreign_latch.hpp"
#include "redis/dialects/redisson/messages.hpp"

namespace holdfast::dialects {

class count_down_latch_recipe final : public foreign_latch {
 public:
  explicit count_down_latch_recipe(messages how = messages::plain) noexcept;

  std::string key_of(std::string_view name) const override { return std::string(name); }
  // With braces of its own also around a name that has some, unlike all others of Redisson.
  std::string channel_of(std::string_view name) const override;
  std::shared_ptr<const foreign_recipe> in_cluster() const override;
  bool shards_messages() const noexcept override { return how_ == messages::sharded; }

  once_call set(const lock_key&, std::uint32_t count) const override;
  once_call count_down(const lock_key&, std::uint32_t by) const override;
  std::variant<latch_change, refused> read_change(const lock_key&,
                                                  const once_answer&) const override;
  void write_query(std::string_view name, resp::writer&) const override;
  std::variant<std::uint32_t, refused> read_count(std::string_view name,
                                                  const resp::value&) const override;

  // Whether it is open. Asking changes nothing at the server, so it bears being sent twice and
  // late.
  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  acquire_verdict read_acquire(const claim&, const resp::value&) const override;
  // There is nothing to give back.
  void write_release(const claim&, resp::writer&) const override;

 private:
  once_call change(const lock_key&, const char* how, std::uint32_t number) const;

  // Neither is sent: nobody holds it.
  const resp::script& inspection() const noexcept override;
  const resp::script& renewal() const noexcept override;
  std::string owner_of(const claim&) const override { return {}; }

  const messages how_;
};

}  // namespace holdfast::dialects
