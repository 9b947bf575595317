// The library whose lock a key is, by its name, type and content.
#include "redis/dialects/recognition.hpp"

#include <gtest/gtest.h>

namespace holdfast::dialects {
namespace {

constexpr milliseconds left{5'000};

// "DIALECT NAME OWNER", or "none"; `remaining` as kept has it.
std::string seen(std::string_view key, std::vector<std::string> words,
                 std::optional<milliseconds> remaining = left) {
  const auto type = words.size() > 1 ? kept_as::hash : kept_as::text;
  const auto found = recognise({key, type, std::move(words), remaining});
  if (!found) return "none";
  std::string text = found->dialect + ' ' + found->name;
  for (const auto& one : found->holders) {
    EXPECT_EQ(one.remaining, remaining);
    text += ' ' + std::string(found->layout->shown(one.owner));
    if (one.mode != 0) text += std::string("=") + one.mode;
  }
  return text;
}

const std::string uuid = "0f0e0d0c-0b0a-0908-0706-050403020100";
const std::string thread = uuid + ":77";

TEST(recognition, knows_the_locks_of_each_library) {
  EXPECT_EQ(seen("orders", {thread, "2"}), "redisson orders " + thread);
  EXPECT_EQ(seen("LOCK_orders", {uuid}), "reentrant_thread_local orders 0f0e0d0c");
  EXPECT_EQ(seen("lock:a", {"AAAAbbbbCCCCdddd0000++//"}), "python_redis_lock a AAAAbbbb");
  EXPECT_EQ(seen("a", {"0123456789abcdef0123456789abcdef"}), "redis_py a 01234567");
  EXPECT_EQ(seen("a", {"0123456789ABCDEf"}), "go_zero a 01234567");
  EXPECT_EQ(seen("a", {"AAAAbbbbCCCCdddd0000+w=="}), "redlock a AAAAbbbb");
  const std::string job = "ADDED:2026-11-22T14:52:47.001Z@there";
  EXPECT_EQ(seen("job-lock:default:a", {job + ':' + uuid}), "shedlock a " + job);
  EXPECT_EQ(seen("job-lock:prod:a:b", {job}), "shedlock:prod a:b " + job);
  EXPECT_EQ(seen("rueidislock:0:a:b", {"0123456789abcdef0123456789abcdef"}),
            "rueidislock a:b 01234567");
  EXPECT_EQ(seen("rueidislock:1:a:b", {"0123456789abcdef0123456789abcdef"}), "none")
      << "it is told with its first key";
}

TEST(recognition, counts_the_holds_of_redisson) {
  const auto found = recognise({"orders", kept_as::hash, {thread, "2"}, left});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->holders.at(0).holds, 2U);
}

TEST(recognition, knows_readers_and_writers_of_redisson) {
  const std::string other = uuid + ":78";
  EXPECT_EQ(seen("orders", {"mode", "read", thread, "2", other, "1"}),
            "redisson orders " + thread + "=r " + other + "=r");
  EXPECT_EQ(seen("orders", {"mode", "write", thread + ":write", "1"}),
            "redisson orders " + thread + "=x");
  EXPECT_EQ(seen("orders", {thread + ":write", "1", "mode", "write", thread, "1"}),
            "redisson orders " + thread + "=x " + thread + "=r");
  EXPECT_EQ(seen("settings", {"mode", "read", "colour", "1"}), "none");
  EXPECT_EQ(seen("settings", {"mode", "read"}), "none");
}

// "DIALECT NAME OWNER=MODE:MS", or "none".
std::string seen_in_set(std::string_view key, std::vector<std::string> words) {
  const auto found = recognise({key, kept_as::sorted_set, std::move(words), left});
  if (!found) return "none";
  std::string text = found->dialect + ' ' + found->name;
  for (const auto& one : found->holders) {
    text += ' ' + std::string(found->layout->shown(one.owner)) + '=' + one.mode + ':' +
            std::to_string(one.remaining.value_or(milliseconds{-1}).count());
  }
  return text;
}

TEST(recognition, knows_the_locks_of_symfony) {
  const std::string one = "AAAAbbbbCCCCddddEEEEffffGGGGhhhhIIIIjjjjKKE=";
  const std::string other = "BBBBbbbbCCCCddddEEEEffffGGGGhhhhIIIIjjjjKKE=";
  EXPECT_EQ(seen_in_set("orders", {one, "4000", other, "3000"}),
            "symfony orders AAAAbbbb=r:4000 BBBBbbbb=r:3000");
  EXPECT_EQ(seen_in_set("orders", {"__write__", "4000", one, "4000"}),
            "symfony orders AAAAbbbb=x:4000");
  EXPECT_EQ(seen_in_set("orders", {one, "4000", other, "-1"}), "symfony orders AAAAbbbb=r:4000");
  EXPECT_EQ(seen_in_set("orders", {one, "-1"}), "none");
  EXPECT_EQ(seen_in_set("orders", {"__write__", "4000"}), "none");
  EXPECT_EQ(seen_in_set("orders", {one, "4000", "Ada", "7"}), "none");
  EXPECT_EQ(seen_in_set("orders", {one, "soon"}), "none");
  EXPECT_EQ(seen_in_set("orders", {"AAAAbbbbCCCCddddEEEEffffGGGGhhhhIIIIjjjjKKF=", "4000"}), "none")
      << "no 32 bytes are so";
}

TEST(recognition, knows_the_permits_of_redis_semaphore) {
  EXPECT_EQ(seen_in_set("semaphore:seats:1", {uuid, "-100"}),
            "redis_semaphore seats:1 0f0e0d0c=s:5000");
  EXPECT_EQ(seen_in_set("semaphore:seats", {uuid + "_0", "-100", uuid + "_1", "-100"}),
            "redis_semaphore seats 0f0e0d0c=s:5000 0f0e0d0c=s:5000");
  EXPECT_EQ(seen_in_set("semaphore:seats", {uuid + "-worker_7", "-100"}),
            "redis_semaphore seats 0f0e0d0c=s:5000");
  EXPECT_EQ(seen_in_set("seats", {uuid, "-100"}), "none");
  EXPECT_EQ(seen_in_set("semaphore:seats", {"Ada", "-100"}), "none");
  EXPECT_EQ(seen_in_set("semaphore:seats", {uuid + "0", "-100"}), "none");
  EXPECT_EQ(seen_in_set("semaphore:", {uuid, "-100"}), "none");
}

TEST(recognition, takes_nothing_else_for_a_lock) {
  EXPECT_EQ(seen("a", {"b"}), "none");
  EXPECT_EQ(seen("a", {""}), "none");
  EXPECT_EQ(seen("user:7", {"name", "Ada"}), "none");
  EXPECT_EQ(seen("a", {thread, "x"}), "none");
  EXPECT_EQ(seen("a", {"mode", "1"}), "none");
  EXPECT_EQ(seen("", {uuid}), "none");
  EXPECT_EQ(seen("app:orders", {std::string(36, '0')}), "none");
  EXPECT_EQ(seen("a", {"0123456789abcdef0123456789abcdeg"}), "none");
  EXPECT_EQ(seen("a", {"twenty characters!!!"}), "none");
  EXPECT_EQ(seen("a", {std::string(21, '\x01')}), "none");
  EXPECT_EQ(seen("a", {std::string(22, 'A') + '.'}), "none");
  EXPECT_EQ(seen("a", {std::string(22, 'B')}), "none");  // no 16 bytes are so
  EXPECT_EQ(seen("job-lock:a", {"ADDED:2026-11-22T14:52:47.001Z@there"}), "none");
  EXPECT_EQ(seen("job-lock:default:a", {"ADDED"}), "none");
  EXPECT_EQ(seen("a", {"AAAAbbbbCCCCdddd0000+/=="}), "none");  // no 16 bytes are so
  EXPECT_EQ(seen("a", {"AAAAbbbbCCCCdddd0000w=="}), "none");
}

// Texts that several libraries write: the key is the name then.
TEST(recognition, knows_a_plain_lock_whose_library_it_does_not_know) {
  EXPECT_EQ(seen("orders", {uuid}), "token orders 0f0e0d0c");
  EXPECT_EQ(seen("a", {"0F0E0D0C-0B0A-0908-0706-050403020100"}), "token a 0F0E0D0C");
  EXPECT_EQ(seen("a", {"0123456789ABCDEF0123456789ABCDEF"}), "token a 01234567");
  EXPECT_EQ(seen("a", {"0123456789abcdef0123456789abcdef01234567"}), "token a 01234567");
  EXPECT_EQ(seen("a", {"AAAAbbbbCCCCdddd0000++//"}), "token a AAAAbbbb");
  EXPECT_EQ(seen("a", {"AAAAbbbbCCCCdddd-_00+w"}), "none");
  EXPECT_EQ(seen("a", {"AAAAbbbbCCCCdddd-_000w"}), "token a AAAAbbbb");
  EXPECT_EQ(seen("a", {"drawn...\x01\xff.........."}), "token a drawn...");
  const auto remark = [](std::string_view key) {
    return recognise({key, kept_as::text, {uuid}, left})->remark;
  };
  EXPECT_EQ(remark("orders"), "plain lock, library unknown");
  EXPECT_EQ(remark(":orders"), "plain lock, library unknown");
  EXPECT_EQ(remark("app:orders:42"), "plain lock, library unknown; perhaps spring_integration:app");
}

// A lock without an end is what an operator looks for, but so few letters are mostly data.
TEST(recognition, wants_an_expiry_of_some) {
  EXPECT_EQ(seen("a", {"0123456789ABCDEf"}, {}), "none");
  EXPECT_EQ(seen("app:orders", {uuid}, {}), "token app:orders 0f0e0d0c");
  EXPECT_EQ(seen("LOCK_orders", {uuid}, {}), "token LOCK_orders 0f0e0d0c");
  EXPECT_EQ(seen("a", {"AAAAbbbbCCCCdddd0000+w=="}, {}), "token a AAAAbbbb");
  EXPECT_EQ(seen("a", {"0123456789abcdef0123456789abcdef"}, {}), "token a 01234567");
  EXPECT_EQ(seen("a", {"0123456789ab1def8123456789abcdef"}, {}), "redis_py a 01234567");
  EXPECT_EQ(seen("lock:a", {"AAAAbbbbCCCCdddd0000++//"}, {}), "python_redis_lock a AAAAbbbb");
  EXPECT_EQ(seen("orders", {thread, "1"}, {}), "redisson orders " + thread);
}

resp::value text(const char* t) {
  return {.kind = resp::type::bulk, .number = 0, .text = t, .items = {}};
}
resp::value list(std::vector<resp::value> items) {
  return {.kind = resp::type::array, .number = 0, .text = {}, .items = std::move(items)};
}

TEST(recognition, reads_only_what_its_script_answers) {
  const std::vector<std::string> keys{"a", "b"};
  const resp::value number{.kind = resp::type::integer, .number = 7, .text = {}, .items = {}};
  const auto read = [&](const resp::value& v) { return read_look(keys, v); };
  const auto some = std::get<0>(read(list({list({}), list({text("string"), number, text("v")})})));
  ASSERT_EQ(some.size(), 1U);
  EXPECT_EQ(some[0].key, "b");
  EXPECT_EQ(some[0].remaining, milliseconds{7});
  EXPECT_TRUE(std::get<0>(read(list({number, list({text("hash"), number, text("f")})}))).empty());
  const auto fields = list({text("hash"), number, text("f"), text("1"), text("g"), text("2")});
  EXPECT_EQ(std::get<0>(read(list({fields, list({})}))).at(0).words.size(), 4U);
  const auto members = list({text("zset"), number, text("m"), text("100")});
  const auto set = std::get<0>(read(list({members, list({text("zset"), number, text("m")})})));
  ASSERT_EQ(set.size(), 1U);
  EXPECT_EQ(set[0].type, kept_as::sorted_set);
  EXPECT_TRUE(std::holds_alternative<refused>(read(list({}))));
  EXPECT_TRUE(std::holds_alternative<refused>(read(number)));
}

}  // namespace
}  // namespace holdfast::dialects
