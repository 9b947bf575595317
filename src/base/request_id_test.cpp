#include "base/request_id.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

constexpr std::array<std::uint8_t, 16> bits = {0x00, 0x0f, 0xf0, 0xff, 0x12, 0x34, 0x56, 0x78,
                                               0x9a, 0xbc, 0xde, 0xf0, 0x01, 0x23, 0x45, 0x67};

TEST(client_id, is_lower_case_hex) {
  EXPECT_EQ(client_id{bits}.text(), "000ff0ff123456789abcdef001234567");
}

TEST(request_id, joins_client_and_counter) {
  const client_id client{bits};
  EXPECT_EQ((std::string{request_id{client, 0}.text()}), "000ff0ff123456789abcdef001234567-0");
  EXPECT_EQ((std::string{request_id{client, 0x2af}.text()}),
            "000ff0ff123456789abcdef001234567-2af");
  EXPECT_EQ((std::string{request_id{client, INT64_MAX}.text()}),
            "000ff0ff123456789abcdef001234567-7fffffffffffffff");
}

TEST(request_id, is_equal_only_to_itself) {
  const client_id client{bits};
  const client_id other{{}};
  EXPECT_EQ((request_id{client, 7}), (request_id{client, 7}));
  EXPECT_NE((request_id{client, 7}), (request_id{client, 8}));
  EXPECT_NE((request_id{client, 7}), (request_id{other, 7}));
}

TEST(request_id, is_shortened_for_people) {
  EXPECT_EQ((request_id{client_id{bits}, 0x2a}.shortened()), "000ff0ff12345678-2a");
}

}  // namespace
}  // namespace holdfast
