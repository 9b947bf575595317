#include "base/glob.hpp"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace holdfast {
namespace {

using namespace std::string_view_literals;

TEST(Glob, TakesAnyByteOfAName) {
  EXPECT_TRUE(matches("a*b"sv, "a\0b"sv));
  EXPECT_TRUE(matches("a\0b"sv, "a\0b"sv));
  EXPECT_TRUE(matches("a?b"sv, "a\0b"sv));
  EXPECT_FALSE(matches("a"sv, "a\0b"sv));
  EXPECT_FALSE(matches("a\0c"sv, "a\0b"sv));
  EXPECT_TRUE(matches("[\x80-\xff]"sv, "\xe9"sv));
}

TEST(Glob, LiteralSignsAreEscaped) {
  EXPECT_TRUE(matches("\\*", "*"));
  EXPECT_FALSE(matches("\\*", "a"));
  EXPECT_TRUE(matches("[\\]]", "]"));
  EXPECT_TRUE(matches("[a", "[a")) << "nothing closes it";
  EXPECT_TRUE(matches("a\\", "a\\")) << "nothing follows it";
}

TEST(Glob, ManyStarsTakeNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "a*";
  EXPECT_FALSE(matches(pattern + "b", std::string(500, 'a')));
}

// Only closed sets and no lone backslash: libraries differ in what they make of those.
TEST(Glob, AgreesWithTheShell) {
  const std::string parts[] = {"a", "b", "-", "*", "?", "[a]", "[!a]", "[a-b]", "[]b]", "\\*", "/"};
  const std::string letters = "ab-*]/";
  std::mt19937 random{20'26};
  const auto below = [&](std::size_t end) { return random() % end; };
  int matched = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string pattern;
    std::string text;
    for (std::size_t n = below(6); n > 0; --n) pattern += parts[below(std::size(parts))];
    for (std::size_t n = below(6); n > 0; --n) text += letters[below(letters.size())];
    const bool agreed = ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
    ASSERT_EQ(matches(pattern, text), agreed) << pattern << " on " << text;
    matched += agreed ? 1 : 0;
  }
  EXPECT_GT(matched, 1000) << "the other half of the question was asked, too";
}

}  // namespace
}  // namespace holdfast
