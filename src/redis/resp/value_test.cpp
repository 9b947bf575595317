#include "redis/resp/value.hpp"

#include <gtest/gtest.h>

#include "redis/resp/sample_replies_for_tests.hpp"

namespace holdfast::resp {
namespace {

TEST(value, knows_what_is_text) {
  EXPECT_TRUE(simple("x").is_text());
  EXPECT_TRUE(bulk("x").is_text());
  EXPECT_TRUE(text(type::verbatim, "x").is_text());
  EXPECT_FALSE(error("x").is_text());
  EXPECT_FALSE(integer(1).is_text());
}

TEST(value, is_shown_on_one_line) {
  EXPECT_EQ(to_string(null()), "null");
  EXPECT_EQ(to_string(integer(-7)), "-7");
  EXPECT_EQ(to_string(boolean(true)), "true");
  EXPECT_EQ(to_string(simple("OK")), "OK");
  EXPECT_EQ(to_string(bulk("a\r\n\"b\"")), R"("a\r\n\"b\"")");
  EXPECT_EQ(to_string(error("OOM no")), R"(error "OOM no")");
  EXPECT_EQ(to_string(text(type::real, "0.5")), "0.5");
  EXPECT_EQ(to_string(text(type::big_number, "123")), "123");
  EXPECT_EQ(to_string(array({integer(1), array({}), null()})), "[1, [], null]");
  EXPECT_EQ(to_string(list(type::push, {bulk("message")})), R"(push ["message"])");
  EXPECT_EQ(to_string(list(type::set, {integer(1), integer(2)})), "{1, 2}");
  EXPECT_EQ(to_string(list(type::map, {simple("a"), integer(1), simple("b"), integer(2)})),
            "{a: 1, b: 2}");
}

TEST(value, is_shown_in_about_200_characters) {
  const std::string big(100'000, '\xff');
  EXPECT_LE(to_string(bulk(big)).size(), 210U);
  EXPECT_LE(to_string(array(std::vector<value>(100'000, integer(12345)))).size(), 210U);
  EXPECT_LE(to_string(array(std::vector<value>(10, bulk(big)))).size(), 210U);
  EXPECT_TRUE(to_string(bulk(big)).ends_with("..."));
}

}  // namespace
}  // namespace holdfast::resp
