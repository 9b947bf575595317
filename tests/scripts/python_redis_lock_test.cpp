// Locks of python-redis-lock on a real server: what differs from the plain layout.
#include <gmock/gmock.h>

#include "redis/dialects/python_redis_lock/python_redis_lock_recipe.hpp"
#include "scripts/foreign_layout.hpp"

namespace holdfast::dialects {
namespace {

using ::testing::MatchesRegex;

class PythonRedisLock : public foreign_test<python_redis_lock_recipe> {
 protected:
  PythonRedisLock() : foreign_test(python_redis_lock_recipe{{.name = "python_redis_lock"}}) {}
  const std::string at = "lock:orders:42";
  const std::string signal = "lock-signal:orders:42";
};
HOLDFAST_ON_EACH_SERVER(PythonRedisLock);

TEST_P(PythonRedisLock, Is24LettersOfBase64) {
  const claim mine = claims.next();
  EXPECT_EQ(theirs().acquire(mine), acquire_verdict(granted{0, lease}));
  EXPECT_THAT(redis().get(at), MatchesRegex("[0-9a-zA-Z+/]{24}"));
  expect_ttl(at, lease);
  EXPECT_EQ(theirs().acquire(mine, true), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(theirs().renew(mine), renew_verdict(renewed{lease}));
  EXPECT_FALSE(redis().exists(signal));
}

TEST_P(PythonRedisLock, LeavesOneSignalForASecond) {
  const claim mine = claims.next();
  theirs().acquire(mine);
  command({"RPUSH", signal, "1", "1"});
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_FALSE(redis().exists(at));
  const auto signals = command({"LRANGE", signal, "0", "-1"});
  ASSERT_EQ(signals.items.size(), 1U);
  EXPECT_EQ(signals.items[0].text, "1");
  EXPECT_GT(redis().pttl(signal), 0);
  EXPECT_LE(redis().pttl(signal), 1'000);
}

TEST_P(PythonRedisLock, WakesOneWhoWaitsAndNobodyForAnother) {
  support::raw_connection waiting{net::unix_endpoint{server().socket()}};
  waiting.send("*3\r\n$5\r\nBLPOP\r\n$21\r\n" + signal + "\r\n$1\r\n0\r\n");
  const claim mine = claims.next();
  theirs().acquire(mine);
  expect_nothing_done_by(others.next());
  EXPECT_EQ(theirs().release(mine), release_verdict(released{}));
  EXPECT_EQ(waiting.read_value().items.at(1).text, "1");
  EXPECT_FALSE(redis().exists(signal));
}

}  // namespace
}  // namespace holdfast::dialects
