#include "redis/connection/sentinel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redis/resp/parser.hpp"

namespace holdfast::redis {
namespace {

using ::testing::HasSubstr;

resp::value read(std::string bytes) {
  resp::value value;
  EXPECT_EQ(resp::parse(bytes, value).what, resp::parse_result::outcome::complete);
  return value;
}
sentinel_answer answered(std::string bytes) { return read_master(read(std::move(bytes)), {}); }
std::string place_of(const sentinel_answer& said) {
  return net::to_string(net::endpoint{std::get<named_master>(said).where});
}

TEST(Sentinel, TellsWhereTheMasterIs) {
  const auto said = answered("*2\r\n$9\r\n127.0.0.1\r\n$4\r\n7001\r\n");
  EXPECT_EQ(place_of(said), "127.0.0.1:7001");
  const auto six = answered("*2\r\n$3\r\n::1\r\n$5\r\n65535\r\n");
  EXPECT_EQ(place_of(six), "[::1]:65535");
}

TEST(Sentinel, TellsInBothProtocolsHowNewThatIs) {
  EXPECT_EQ(read_epoch(read("*4\r\n+name\r\n+config-epoch\r\n+config-epoch\r\n+7\r\n")), 7U);
  EXPECT_EQ(read_epoch(read("%2\r\n+port\r\n+1\r\n$12\r\nconfig-epoch\r\n$1\r\n0\r\n")), 0U);
}

TEST(Sentinel, MayNotTellHowNewThatIs) {
  for (const char* bytes :
       {"-NOPERM this user has no permissions\r\n", "_\r\n", "*0\r\n", "*1\r\n+config-epoch\r\n",
        "*2\r\n+config-epoch\r\n+new\r\n", "*2\r\n+config-epoch\r\n+-1\r\n", "+OK\r\n"}) {
    EXPECT_EQ(read_epoch(read(bytes)), std::nullopt) << bytes;
  }
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
