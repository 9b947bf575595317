#include <gtest/gtest.h>

#include <holdfast/errc.hpp>
#include <set>

namespace holdfast {
namespace {

constexpr int last = static_cast<int>(errc::untrusted_server);

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

}  // namespace
}  // namespace holdfast
