#include "redis/connection/demotion.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "redis/resp/parser.hpp"

namespace holdfast::redis {
namespace {

bool tells(std::string_view bytes) {
  resp::value said;
  EXPECT_EQ(resp::parse(bytes, said).what, resp::parse_result::outcome::complete);
  return tells_of_demotion(said);
}

TEST(Demotion, IsToldByARefusalToWrite) {
  EXPECT_TRUE(tells("-READONLY You can't write against a read only replica.\r\n"));
  EXPECT_FALSE(tells("-ERR READONLY\r\n"));
  EXPECT_FALSE(tells("+OK\r\n"));
}

TEST(Demotion, IsToldByARefusalInAList) {
  EXPECT_TRUE(tells("*2\r\n+OK\r\n$9\r\n-READONLY\r\n"));
  EXPECT_FALSE(tells("*2\r\n+OK\r\n$2\r\nno\r\n"));
}

}  // namespace
}  // namespace holdfast::redis
