#include "redis/sentinel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resp/parser.hpp"

namespace holdfast::redis {
namespace {

using ::testing::HasSubstr;

sentinel_answer answered(std::string bytes) {
  resp::value value;
  EXPECT_EQ(resp::parse(bytes, value).what, resp::parse_result::outcome::complete);
  return read_master(value);
}

TEST(Sentinel, TellsWhereTheMasterIs) {
  const auto said = answered("*2\r\n$9\r\n127.0.0.1\r\n$4\r\n7001\r\n");
  EXPECT_EQ(net::to_string(std::get<net::endpoint>(said)), "127.0.0.1:7001");
  const auto six = answered("*2\r\n$3\r\n::1\r\n$5\r\n65535\r\n");
  EXPECT_EQ(net::to_string(std::get<net::endpoint>(six)), "[::1]:65535");
}

TEST(Sentinel, ThatHasNeverHeardOfTheServiceSaysSoInBothProtocols) {
  EXPECT_TRUE(std::holds_alternative<unknown_service>(answered("_\r\n")));
  EXPECT_TRUE(std::holds_alternative<unknown_service>(answered("*-1\r\n")));
}

TEST(Sentinel, ThatRefusesIsUnderstood) {
  const auto said = answered("-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(std::get<breakdown>(said).code, errc::authentication);
}

TEST(Sentinel, IsNoneWhenItAnswersSomethingElse) {
  for (const char* bytes :
       {"+OK\r\n", ":1\r\n", "*1\r\n$1\r\nh\r\n", "*2\r\n$1\r\nh\r\n$1\r\n0\r\n",
        "*2\r\n$1\r\nh\r\n$5\r\n65536\r\n", "*2\r\n$1\r\nh\r\n$2\r\n1x\r\n",
        "*2\r\n$0\r\n\r\n$1\r\n1\r\n", "*3\r\n$1\r\nh\r\n$1\r\n1\r\n+x\r\n"}) {
    const auto said = answered(bytes);
    ASSERT_TRUE(std::holds_alternative<breakdown>(said)) << bytes;
    EXPECT_EQ(std::get<breakdown>(said).code, errc::not_redis);
    EXPECT_THAT(std::get<breakdown>(said).detail, HasSubstr("master"));
  }
}

}  // namespace
}  // namespace holdfast::redis
