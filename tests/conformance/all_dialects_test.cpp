// Locks that are found without saying whose they are.
#include <map>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class AllDialects : public mutex_test {
 protected:
  // Name -> dialect.
  std::map<std::string, std::string> found(std::string_view pattern = "*") {
    std::map<std::string, std::string> all;
    for (const auto& lock : inspector{redis()}.list_all_dialects(pattern).locks) {
      EXPECT_EQ(lock.what, lock_status::state::held);
      EXPECT_TRUE(all.emplace(lock.name, lock.dialect).second) << lock.name;
    }
    return all;
  }
};
HOLDFAST_ON_EACH_SERVER(AllDialects);

TEST_P(AllDialects, AreListedTogether) {
  using how = dialect;
  std::vector<std::pair<std::string, dialect>> kinds = {
      {"holdfast", how{}},
      {"redisson", how::redisson()},
      {"go_zero", how::go_zero()},
      {"redis_py", how::redis_py()},
      {"reentrant_thread_local", how::reentrant_thread_local()},
      {"shedlock", how::shedlock()},
      {"symfony", how::symfony()},
      {"shedlock:prod", how::shedlock({.environment = "prod"})},
  };
  if (!support::over_cluster()) {  // their keys have several hash slots
    kinds.emplace_back("python_redis_lock", how::python_redis_lock());
    kinds.emplace_back("rueidislock", how::rueidislock());
  }
  std::vector<lease> held;
  std::map<std::string, std::string> wanted;
  for (const auto& [called, each] : kinds) {
    const auto name = "of " + called;
    held.push_back(redis().mutex(name, {}, each).acquire());
    wanted.emplace(name, called);
  }
  held.push_back(redis().rw("of readers", {}, how::symfony()).shared().acquire());
  wanted.emplace("of readers", "symfony");
  held.push_back(
      redis().semaphore("of some", {.permits = 3}, how::redis_semaphore()).permits(2).acquire());
  wanted.emplace("of some", "redis_semaphore");
  // Many libraries write what Spring's registries do.
  held.push_back(redis().mutex("jobs", {}, how::spring_integration({"app"})).acquire());
  wanted.emplace("app:jobs", "token");
  EXPECT_EQ(found(), wanted);
  EXPECT_EQ(found("of s*").size(), 4U);
  for (auto& one : held) one.release().value();
  EXPECT_TRUE(found().empty());
}

TEST_P(AllDialects, AreNotConfusedWithOtherKeys) {
  server().command({"SET", "page", std::string(201, 'a'), "EX", "60"});
  server().command({"SET", "greeting", "hello", "EX", "60"});
  server().command({"RPUSH", "list", "0123456789abcdef"});
  server().command({"SADD", "set", "0123456789abcdef"});
  server().command({"HSET", "user:7", "name", "Ada"});
  server().command({"ZADD", "ranking", "7", "Ada", "4102444800000", "Bob"});
  server().command({"ZADD", "weights", "inf", "AAAAbbbbCCCCddddEEEEffffGGGGhhhhIIIIjjjjKKE="});
  server().command({"HSET", "user:8", "name", "Ada", "city", "London"});
  EXPECT_TRUE(found().empty());
}

TEST_P(AllDialects, AreFoundWithinBounds) {
  for (int i = 0; i < 250; ++i) {
    server().command({"SET", "lock " + std::to_string(i), "0123456789abcdef", "EX", "60"});
  }
  const inspector look{redis()};
  const auto all = look.list_all_dialects();
  EXPECT_EQ(all.locks.size(), 250U);
  EXPECT_TRUE(all.complete);
  EXPECT_TRUE(std::ranges::is_sorted(all.locks, {}, &lock_status::name));
  const auto few = look.list_all_dialects("*", {.most = 3});
  EXPECT_EQ(few.locks.size(), 3U);
  EXPECT_FALSE(few.complete);
  EXPECT_FALSE(look.list_all_dialects("*", {.most_scanned = 10}).complete);
}

}  // namespace
}  // namespace holdfast::conformance
