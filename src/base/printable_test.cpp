#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

using namespace std::string_view_literals;

TEST(printable, leaves_plain_text) { EXPECT_EQ(printable("orders:42 {x}~"), "orders:42 {x}~"); }

TEST(printable, escapes_what_could_mislead_a_terminal) {
  EXPECT_EQ(printable("a\r\n\t\x1b[2J\0\x7f"sv), R"(a\r\n\t\x1b[2J\x00\x7f)");
  EXPECT_EQ(printable("say \"hi\" \\"), R"(say \"hi\" \\)");
  EXPECT_EQ(printable("\xe2\x80\xae"), R"(\xe2\x80\xae)") << "right-to-left override";
}

TEST(printable, cuts_before_an_escape_never_inside) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcdef...");
  EXPECT_EQ(printable("abcd\x01", 6), "abcd...");
  EXPECT_EQ(printable("x", 0), "...");
}

TEST(without_control_bytes, escapes_nothing_twice) {
  EXPECT_EQ(without_control_bytes("say \"hi\" \\x1b \x1b[2J\n\x9b"),
            R"(say "hi" \x1b \x1b[2J\n\x9b)");
  const std::string long_one(1000, 'x');
  EXPECT_EQ(without_control_bytes(long_one), long_one);
}

}  // namespace
}  // namespace holdfast
