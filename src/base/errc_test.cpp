#include <gtest/gtest.h>

#include <holdfast/errc.hpp>
#include <random>
#include <set>
#include <string>
#include <string_view>

namespace holdfast {
namespace {

constexpr int last = static_cast<int>(errc::has_run);

TEST(errc, has_a_sentence_of_its_own_for_every_value) {
  std::set<std::string> sentences;
  for (int code = 1; code <= last; ++code) {
    const std::string sentence = error_category().message(code);
    EXPECT_NE(sentence, "unknown error") << code;
    EXPECT_TRUE(sentences.insert(sentence).second) << sentence;
  }
  EXPECT_EQ(error_category().message(0), "unknown error");
  EXPECT_EQ(error_category().message(last + 1), "unknown error");
}

TEST(errc, has_a_name_of_its_own_for_every_value) {
  EXPECT_STREQ(name_of(errc::timed_out), "timed_out");
  std::set<std::string> names;
  for (int code = 1; code <= last; ++code) {
    EXPECT_TRUE(names.insert(name_of(static_cast<errc>(code))).second) << code;
  }
  EXPECT_FALSE(names.count("unknown"));
  EXPECT_STREQ(name_of(static_cast<errc>(last + 1)), "unknown");
}

TEST(errc, is_an_error_code_of_the_category) {
  const std::error_code code = errc::busy;
  EXPECT_EQ(code, errc::busy);
  EXPECT_NE(code, errc::lost);
  EXPECT_EQ(code.value(), 1) << "values are stable";
  EXPECT_STREQ(code.category().name(), "holdfast");
}

TEST(failure, says_what_happened) {
  const failure plain{errc::timed_out};
  EXPECT_EQ(plain.reason(), errc::timed_out);
  EXPECT_STREQ(plain.what(), "the lock was not obtained in time");
  const failure detailed{errc::invalid_name, "the name is empty"};
  EXPECT_EQ(detailed.reason(), errc::invalid_name);
  EXPECT_STREQ(detailed.what(), "the name is empty: a lock name must have 1 to 512 bytes");
}

// However a text was put together.
TEST(failure, never_carries_a_control_byte) {
  std::mt19937_64 random(33);
  for (int i = 0; i < 20'000; ++i) {
    std::string detail;
    while (random() % 40 != 0) detail += static_cast<char>(random());
    const auto code = static_cast<errc>(1 + random() % last);
    const failure told{code, detail};
    for (const char c : std::string_view{told.what()}) {
      ASSERT_TRUE(c >= 0x20 && c < 0x7f) << i;
    }
  }
  EXPECT_STREQ(failure(errc::timed_out, "'\"a\\x1b\"' \x1b[2J\n").what(),
               R"('"a\x1b"' \x1b[2J\n: the lock was not obtained in time)");
}

}  // namespace
}  // namespace holdfast
