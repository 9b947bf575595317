// The script of fenced writes.
#include "redis/dialects/holdfast/fenced.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

using reply = std::variant<fence_passed, fence_stale, refused>;

class FencedScript : public scripts_test {
 protected:
  reply write(const std::string& body, std::uint64_t token,
              const std::vector<std::string>& args = {},
              const std::vector<std::string>& keys = {"{a}1"}) {
    return copy(body, token, args, keys, next());
  }
  reply copy(const std::string& body, std::uint64_t token, const std::vector<std::string>& args,
             const std::vector<std::string>& keys, const request_id& id) {
    const auto script = fenced_script(body);
    const auto asked = fenced_write(key_space{}, script, keys, args, fencing_token{token});
    const auto verdict =
        read_once(redis().ask([&](auto& out) { write_once(key_space{}, asked, id, never, out); }));
    if (const auto* why = std::get_if<refused>(&verdict)) return *why;
    return read_fenced(std::get<once_answer>(verdict));
  }
  request_id next() { return {client_, ++requests_}; }

  static reply passed(std::optional<std::string> value = {}) { return fence_passed{value}; }
  static reply stale(std::uint64_t last) { return fence_stale{fencing_token{last}}; }
  static std::string last_key(const std::string& of) {
    return "hf:fenced:{" + slot_tag(hash_slot(of)) + "}:" + of;
  }

  const std::string set = "redis.call('SET', KEYS[1], ARGV[1])";

 private:
  client_id client_{{3}};
  std::uint64_t requests_ = 0;
};
HOLDFAST_ON_EACH_SERVER(FencedScript);

TEST_P(FencedScript, LetsThroughWhatIsNotOlder) {
  EXPECT_EQ(write(set, 100, {"a"}), passed());
  EXPECT_EQ(write(set, 100, {"b"}), passed());
  EXPECT_EQ(write(set, 99, {"c"}), stale(100));
  EXPECT_EQ(redis().get("{a}1"), "b");
  EXPECT_EQ(write(set, 101, {"d"}), passed());
  EXPECT_EQ(write(set, 100, {"e"}), stale(101));
  EXPECT_EQ(redis().get("{a}1"), "d");
  EXPECT_EQ(redis().get(last_key("{a}1")), "101");
}

TEST_P(FencedScript, ComparesAllSixtyFourBits) {
  const std::uint64_t rising[] = {1,
                                  9,
                                  10,
                                  std::uint64_t{1} << 53,
                                  (std::uint64_t{1} << 53) + 1,
                                  9'999'999'999'999'999'999U,
                                  10'000'000'000'000'000'000U,
                                  std::numeric_limits<std::uint64_t>::max() - 1,
                                  std::numeric_limits<std::uint64_t>::max()};
  std::uint64_t before = 0;
  for (const auto token : rising) {
    EXPECT_EQ(write(set, token, {"x"}), passed()) << token;
    if (before != 0) {
      EXPECT_EQ(write(set, before, {"y"}), stale(token)) << before;
    }
    before = token;
  }
}

TEST_P(FencedScript, ReturnsWhatTheFunctionReturns) {
  EXPECT_EQ(write("", 1), passed());
  EXPECT_EQ(write("return nil", 1), passed());
  EXPECT_EQ(write("return 'a b'", 1), passed("a b"));
  EXPECT_EQ(write("return ''", 1), passed(""));
  EXPECT_EQ(write("return 42", 1), passed("42"));
  EXPECT_EQ(write("return 0.5", 1), passed("0.5"));
  EXPECT_EQ(write("return redis.call('SET', KEYS[1], ARGV[1]) -- OK", 1, {"x"}), passed("OK"));
  EXPECT_EQ(write("return {1, KEYS[1], ARGV[2], #KEYS, #ARGV}", 1, {"x", "y"}),
            passed("[1,\"{a}1\",\"y\",1,2]"));
}

// Lua's numbers are doubles, and cjson writes 14 digits of them.
TEST_P(FencedScript, TellsEachNumberExactlyOrNotAtAll) {
  EXPECT_EQ(write("return 9007199254740991", 1), passed("9007199254740991"));
  EXPECT_EQ(write("return {1795240014867674, {a = -9007199254740991}, 12, 'hf:once:{1}:=12'}", 1),
            passed("[1795240014867674,{\"a\":-9007199254740991},12,\"hf:once:{1}:=12\"]"));
  redis().command({"SET", "{a}1", "9007199254740992"});
  for (const std::string value : {"redis.call('INCR', KEYS[1])", "{redis.call('INCR', KEYS[1])}",
                                  "-9007199254740992", "1e300", "{{1 / 0}}", "0 / 0"}) {
    const auto told = write("return " + value, 1);
    EXPECT_EQ(code_of(told), errc::server_error) << value;
    EXPECT_THAT(std::get<refused>(told).detail, ::testing::HasSubstr("2^53")) << value;
  }
  EXPECT_EQ(redis().get("{a}1"), "9007199254740994") << "what it wrote stays";
}

TEST_P(FencedScript, AnErrorIsToldAndNotRepeated) {
  const auto id = next();
  for (int i = 0; i < 2; ++i) {
    const auto failed =
        copy("redis.call('INCR', KEYS[1]) redis.call('LPUSH', KEYS[1], 'x')", 7, {}, {"{a}1"}, id);
    EXPECT_EQ(code_of(failed), errc::foreign_key) << "of the user's own key";
    EXPECT_EQ(redis().get("{a}1"), "1") << "what came before the error stays, once";
  }
  EXPECT_EQ(code_of(write("return redis.error_reply('NO')", 7)), errc::server_error);
  EXPECT_EQ(code_of(write("error('no')", 7)), errc::server_error);
  EXPECT_EQ(code_of(write("this is not Lua", 9)), errc::server_error);
  EXPECT_EQ(write(set, 8, {"x"}), passed()) << "what cannot be compiled raises nothing";
}

// Its writes stay, so there must be an answer, and a copy must be told the same.
TEST_P(FencedScript, TellsAlsoWhatHasNoJson) {
  for (const std::string value : {"{[1000] = 1}", "{0 / 0}", "{function() end}",
                                  "(function() local a = {} a[1] = a return a end)()",
                                  "setmetatable({}, {__index = function() error('no') end})"}) {
    const auto id = next();
    redis().command({"DEL", "{a}1"});
    for (int i = 0; i < 2; ++i) {
      const auto told = copy("redis.call('INCR', KEYS[1]) return " + value, 7, {}, {"{a}1"}, id);
      EXPECT_EQ(code_of(told), errc::server_error) << value;
      EXPECT_EQ(redis().get("{a}1"), "1") << value;
    }
  }
  EXPECT_EQ(write("return {ok = true}", 7), passed("{\"ok\":true}"));
  EXPECT_EQ(code_of(write("return {err = {}}", 7)), errc::server_error);
}

TEST_P(FencedScript, LooksAtEveryKey) {
  const std::vector<std::string> both{"{a}1", "{a}2"};
  EXPECT_EQ(write(set, 5, {"x"}, {"{a}2"}), passed());
  const auto before = redis().get("{a}2");
  EXPECT_EQ(write("redis.call('DEL', KEYS[2])", 4, {}, both), stale(5));
  EXPECT_EQ(redis().get("{a}2"), before);
  EXPECT_FALSE(redis().exists(last_key("{a}1"))) << "refused: nothing was raised";
  EXPECT_EQ(write("redis.call('DEL', KEYS[2])", 6, {}, both), passed());
  EXPECT_EQ(write(set, 5, {"x"}), stale(6));
  EXPECT_EQ(write(set, 5, {"x"}, {"{a}2"}), stale(6));
}

TEST_P(FencedScript, ALateCopyOfAWriteDoesNothing) {
  const auto first = next();
  EXPECT_EQ(copy(set, 5, {"old"}, {"{a}1"}, first), passed());
  EXPECT_EQ(write(set, 5, {"new"}), passed()) << "the same holder writes again";
  EXPECT_EQ(copy(set, 5, {"old"}, {"{a}1"}, first), passed());
  EXPECT_EQ(redis().get("{a}1"), "new");
}

TEST_P(FencedScript, TakesKeysOfAnyForm) {
  for (const std::string odd : {"a", "", "}", "{}", "a}b{c", "{x}y", "a\r\n%{\x01"}) {
    EXPECT_EQ(write(set, 5, {"x"}, {odd}), passed()) << odd;
    EXPECT_EQ(hash_slot(last_key(odd)), hash_slot(odd)) << odd;
    EXPECT_EQ(write(set, 4, {"y"}, {odd}), stale(5)) << odd;
  }
}

TEST_P(FencedScript, RefusesAForeignTokenAndIsCleanWhenMemoryIsShort) {
  for (const auto& words : {std::vector<std::string>{"SET", last_key("{a}1"), "text"},
                            {"RPUSH", last_key("{a}1"), "1"}}) {
    redis().command({"DEL", last_key("{a}1")});
    redis().command(words);
    const auto before = redis().contents();
    EXPECT_EQ(code_of(write(set, 5, {"x"})), errc::foreign_key);
    EXPECT_EQ(redis().contents(), before);
  }
  redis().command({"DEL", last_key("{a}1")});
  redis().command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(code_of(write(set, 5, {"x"})), errc::out_of_memory);
  redis().command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(redis().contents(), "");
}

}  // namespace
}  // namespace holdfast::dialects
