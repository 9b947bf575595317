// The end of a client that has never reached a server, and what it may say to one.
#include "redis/locks/redis_engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <utility>

#include "redis/connection/session.hpp"
#include "redis/dialects/catalog.hpp"
#include "redis/dialects/nothing.hpp"
#include "redis/locks/redis_lock.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {
namespace {

lock_spec a_lock() {
  return {.key = lock_key("a"),
          .recipe = &dialects::native_mutex(fencing::on),
          .lease = short_milliseconds{1000},
          .retain = short_milliseconds{0},
          .queue_limit = 0,
          .renews = true,
          .fair = false,
          .fenced = true};
}

// A renewal that another thread finds due just when the background thread ends is attended to by
// nobody. The attempt, and the lock that nobody but it still knows, must end while the list of all
// locks, from which a lock strikes itself off, is there.
TEST(Engine, EndsWhatIsStillToBeRenewedBeforeTheListOfLocks) {
  auto client = std::make_unique<redis_engine>(redis::session_settings{}, client_options{});
  auto local = client->local_locks().find_or_make(*client, a_lock());
  const std::weak_ptr<local_lock> known = local;
  auto due =
      std::make_shared<redis_lock>(*client, std::shared_ptr<const lock_spec>(local, &local->spec()),
                                   leasing::patience{}, false, local.get());
  client->shut_down();
  client->renewals().add(std::move(due));
  local.reset();
  EXPECT_FALSE(known.expired());
  client.reset();
  EXPECT_TRUE(known.expired());
}

// Servers write down each command that is refused.
TEST(Engine, WhatStandsForNothingIsAllowedToEverybody) {
  std::string written;
  resp::writer out(written);
  dialects::write_nothing(out);
  const auto is_it = [&](const redis::session_command& one) {
    std::string name{one.name};
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
    return one.needed && written.ends_with("\n" + name + "\r\n");
  };
  EXPECT_TRUE(std::ranges::any_of(redis::session_commands(), is_it));
}

}  // namespace
}  // namespace holdfast::redis_locks
