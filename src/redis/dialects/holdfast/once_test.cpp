#include "redis/dialects/holdfast/once.hpp"

#include <gtest/gtest.h>

#include "base/lock_key.hpp"
#include "redis/dialects/holdfast/counter.hpp"
#include "redis/dialects/holdfast/fenced.hpp"
#include "redis/dialects/holdfast/random_replies_for_tests.hpp"
#include "redis/dialects/holdfast/rate.hpp"
#include "redis/resp/sample_replies_for_tests.hpp"

namespace holdfast::dialects {
namespace {

using resp::array;
using resp::bulk;
using resp::integer;

constexpr std::int64_t noon = 1795240014867674;
constexpr server_time now{microseconds(noon)};
const request_id request{client_id{{0xff}}, 42};
const once_id id{request, 0xff};

std::string bytes_of(const once_call& asked) {
  std::string bytes;
  resp::writer out{bytes};
  write_once(key_space{}, asked, id, now, out);
  EXPECT_TRUE(out.finished());
  return bytes;
}

std::string word(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string{text} + "\r\n";
}

std::string told_at(std::string_view slot_of) {
  return "hf:once:{" + slot_tag(hash_slot(slot_of)) + "}:" + std::string{request.text()} +
         ":00000000000000ff";
}

TEST(once, writes_where_the_answer_is_remembered_and_until_when) {
  const value_key stock{key_space{}, "counter", "st{o}ck"};
  EXPECT_EQ(stock.key, "hf:counter:{st%7Bo%7Dck}");
  const auto asked = counter_subtract(stock, 5, INT64_MAX);
  EXPECT_EQ(bytes_of(asked), "*10\r\n" + word("EVALSHA") + word(asked.script.sha1) + word("2") +
                                 word(told_at(stock.key)) + word(stock.key) +
                                 word(std::to_string(noon)) + word("add") + word("-5") +
                                 word("least") + word("9223372036854775812"));
}

TEST(once, writes_fenced_keys_beside_those_of_the_user) {
  const auto script = fenced_script("return 1");
  const auto asked = fenced_write(key_space{}, script, {"{a}1", "{a}2"}, {"x"}, fencing_token{17});
  const std::string last = "hf:fenced:{" + slot_tag(hash_slot("a")) + "}:";
  EXPECT_EQ(bytes_of(asked), "*11\r\n" + word("EVALSHA") + word(asked.script.sha1) + word("5") +
                                 word(told_at("{a}1")) + word(last + "{a}1") + word(last + "{a}2") +
                                 word("{a}1") + word("{a}2") + word(std::to_string(noon)) +
                                 word("17") + word("x"));
}

TEST(once, composes_scripts_with_a_name_of_their_own) {
  const composed_script one{{"around", "a\n--@body\nb", "x"}, "return 1 -- $&"};
  EXPECT_EQ(one.script().text, "a\nreturn 1 -- $&\nb");
  EXPECT_EQ(one.script().sha1.size(), 40U);
  const composed_script other{{"around", "a\n--@body\nb", "x"}, "return 2"};
  EXPECT_NE(one.script().sha1, other.script().sha1);
}

TEST(once, reads_a_word_and_the_rest) {
  EXPECT_EQ(read_once(array({bulk("ok 17"), integer(noon)})),
            once_verdict(once_answer{"ok", "17", now}));
  EXPECT_EQ(read_once(array({bulk("text  a b"), integer(noon)})),
            once_verdict(once_answer{"text", " a b", now}));
  EXPECT_EQ(read_once(array({bulk("done"), integer(noon)})),
            once_verdict(once_answer{"done", "", now}));
  EXPECT_EQ(read_once(array({bulk("late"), integer(noon)})), once_verdict(late{now}));
}

TEST(once, refuses_errors_and_what_is_no_answer) {
  EXPECT_EQ(std::get<refused>(read_once(resp::error("OOM no"))).code, errc::out_of_memory);
  for (const auto& odd : {resp::null(), integer(1), bulk("ok 17"), array({}), array({bulk("ok 1")}),
                          array({bulk(""), integer(noon)}), array({bulk("ok"), bulk("soon")})}) {
    EXPECT_EQ(std::get<refused>(read_once(odd)).code, errc::server_error);
  }
}

TEST(once, makes_a_verdict_of_whatever_is_answered) {
  const value_key key{key_space{}, "counter", "a"};
  random_replies replies{7};
  const auto explains = [](const auto& verdict) {
    const auto* why = std::get_if<refused>(&verdict);
    return why == nullptr || why->detail.size() > 15;
  };
  for (int i = 0; i < 50'000; ++i) {
    const auto reply = replies.next();
    ASSERT_TRUE(explains(read_once(reply)));
    ASSERT_TRUE(explains(read_counter(key, reply)));
    const std::string_view words[] = {"ok",   "no",   "overflow", "failed", "foreign", "stale",
                                      "done", "text", "due",      "wait",   ""};
    const once_answer answer{std::string{words[i % std::size(words)]}, reply.text, now};
    ASSERT_TRUE(explains(read_counted(key, answer)));
    ASSERT_TRUE(explains(read_fenced(answer)));
    ASSERT_TRUE(explains(read_rate(key, answer)));
  }
}

}  // namespace
}  // namespace holdfast::dialects
