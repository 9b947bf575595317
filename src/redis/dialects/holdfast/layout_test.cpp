#include "redis/dialects/holdfast/layout.hpp"

#include <gtest/gtest.h>

namespace holdfast::dialects {
namespace {

const client_id client{{0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
const std::string id = "ff0102030405060708090a0b0c0d0e0f";

TEST(lock_value, joins_version_major_and_owner) {
  EXPECT_EQ((lock_value{17, request_id{client, 0x2a}}.text()), "1:17:" + id + "-2a");
  EXPECT_EQ((lock_value{0, request_id{client, 0}}.text()), "1:0:" + id + "-0");
  EXPECT_EQ((lock_value{UINT64_MAX, request_id{client, INT64_MAX}}.text()),
            "1:18446744073709551615:" + id + "-7fffffffffffffff");
}

TEST(lock_value, is_read_back) {
  const lock_value value{largest_major, request_id{client, 7}};
  const auto parts = parse_lock_value(value.text());
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->major, largest_major);
  EXPECT_EQ(parts->owner, id + "-7");
  EXPECT_EQ(parse_lock_value("1:0:somebody:else")->owner, "somebody:else");
}

TEST(lock_value, is_nothing_else) {
  for (const char* text :
       {"", "1", "1:", "1:17", "1:17:", "1::x", "1:-1:x", "1:+1:x", "1: 1:x", "1:17x:y",
        "1:4503599627370497:x", "1:99999999999999999999:x", "2:17:x", "01:17:x", "x1:17:x"}) {
    EXPECT_FALSE(parse_lock_value(text)) << text;
  }
}

TEST(parse_counter, reads_the_last_grant_that_was_ahead_of_the_clock) {
  EXPECT_EQ(parse_counter("17 5"), (counted_grant{17, server_time{microseconds{5}}}));
  for (const char* text : {"", "17", "17 ", "17 x", "17 5 ", "17:5", "x 5", " 5", "-1 5",
                           "99999999999999999999 5", "17 99999999999999999999"}) {
    EXPECT_EQ(parse_counter(text), counted_grant{}) << text;
  }
}

TEST(granted_at, is_the_major_unless_it_was_ahead_of_the_clock) {
  const auto at = [](std::int64_t us) { return server_time{microseconds{us}}; };
  const auto shown = [&](std::int64_t us) {
    return std::chrono::system_clock::time_point{at(us).time_since_epoch()};
  };
  EXPECT_EQ(granted_at(17, at(20), {}), shown(17));
  EXPECT_EQ(granted_at(17, at(15), {}), shown(15));
  const counted_grant last{17, at(5)};
  EXPECT_EQ(granted_at(17, at(15), last), shown(5));
  EXPECT_EQ(granted_at(17, at(20), last), shown(5)) << "also when the clock has caught up";
  EXPECT_EQ(granted_at(12, at(20), last), shown(12)) << "of an earlier grant it says nothing";
}

TEST(other_layout_version, is_a_short_number_before_a_colon) {
  EXPECT_EQ(other_layout_version("2:anything"), "2");
  EXPECT_EQ(other_layout_version("999:"), "999");
  EXPECT_EQ(other_layout_version("01:17:x"), "01");
  for (const char* text : {"", "1:17:x", "1:", ":", "2", "2-", "x:17:x", "1a:x", "1234:x"}) {
    EXPECT_FALSE(other_layout_version(text)) << text;
  }
}

TEST(parse_owner, takes_a_request_id_apart) {
  const owner_parts parts = parse_owner(request_id{client, 0x2a}.text());
  EXPECT_EQ(parts.client, id);
  EXPECT_EQ(parts.shortened, (request_id{client, 0x2a}.shortened()));
}

TEST(parse_owner, shows_little_of_other_owners) {
  EXPECT_EQ(parse_owner("somebody-else").client, "");
  EXPECT_EQ(parse_owner("somebody-else").shortened, "somebody");
  EXPECT_EQ(parse_owner("\x1b[2Jx").shortened, "\\x1b[2Jx");
  EXPECT_EQ(parse_owner(id).client, "");
  EXPECT_EQ(parse_owner(id + "-").client, "");
  EXPECT_EQ(parse_owner(id + "-G").client, "");
  EXPECT_EQ(parse_owner(id + "-00000000000000000").client, "");
  EXPECT_EQ(parse_owner("").shortened, "");
}

}  // namespace
}  // namespace holdfast::dialects
