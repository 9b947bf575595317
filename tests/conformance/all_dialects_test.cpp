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
      EXPECT_EQ(lock.state, lock_state::held);
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
  held.push_back(redis().read_write_lock("of readers", {}, how::symfony()).shared().acquire());
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

// Somebody has named it: it need not look like a lock among all keys.
TEST_P(AllDialects, AreRecognisedByTheirNameWhateverTheirText) {
  server().command({"SET", "stuck", "deadbeef"});
  server().command({"SET", "soon", "deadbeef", "EX", "60"});
  server().command({"SET", "of go-zero", "0123456789abcdef"});
  server().command({"SET", "mutex:job", "0f0e0d0c-0b0a-0908-0706-050403020100"});
  server().command({"SET", "stuck too", "deadbeef"});
  const inspector look{redis()};
  for (const char* const name : {"stuck", "soon", "of go-zero", "job"}) {
    for (const std::size_t most_scanned : {std::size_t{1000}, std::size_t{0}}) {
      const auto listed = look.list_all_dialects(name, {.most_scanned = most_scanned}).locks;
      const auto known = look.find_foreign(name);
      ASSERT_EQ(listed.size(), 1U) << name;
      ASSERT_EQ(known.size(), 1U) << name;
      EXPECT_EQ(listed[0].name, known[0].name);
      EXPECT_EQ(listed[0].dialect, known[0].dialect);
      EXPECT_EQ(listed[0].detail, known[0].detail);
      EXPECT_EQ(listed[0].owner.foreign_text, known[0].owner.foreign_text);
    }
  }
  EXPECT_EQ(found(), (std::map<std::string, std::string>{{"mutex:job", "token"}}));
  EXPECT_TRUE(found("s[t]uck").empty()) << "that is no name";
  EXPECT_TRUE(found("nobody").empty());
  const auto held = redis().mutex("stuck").acquire();
  EXPECT_EQ(look.list_all_dialects("stuck").locks.size(), 2U) << "one is Holdfast's";
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
