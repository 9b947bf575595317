#include "support/history/event.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace holdfast::history {
namespace {

TEST(Event, IsOneLineAndBack) {
  const event all{.time = nanoseconds(12),
                  .what = kind::written,
                  .process = 7,
                  .operation = 3,
                  .lock = "a{b}",
                  .token = 18'446'744'073'709'551'615U,
                  .until = nanoseconds(99),
                  .lease = milliseconds(300),
                  .value = 5,
                  .part = 2,
                  .whole = 3,
                  .mode = support::mode::pw,
                  .note = "5"};
  EXPECT_EQ(to_line(all),
            "12 written process=7 operation=3 lock=a{b} token=18446744073709551615 until=99 "
            "lease=300 value=5 part=2 whole=3 mode=PW note=5");
  EXPECT_EQ(parse(to_line(all)), all);
  for (auto what = kind::called; what <= kind::left; what = kind(int(what) + 1)) {
    const event plain{nanoseconds(1), what};
    EXPECT_EQ(parse(to_line(plain)), plain) << to_line(plain);
  }
}

TEST(Event, HasNotesOfOneWord) {
  EXPECT_EQ(to_line({.time = nanoseconds(1), .what = kind::failed, .note = "no answer\n"}),
            "1 failed note=no_answer_");
}

TEST(Event, RefusesOtherLines) {
  for (const auto* line : {"", "x won", "1", "1 wins", "1 won token", "1 won colour=9",
                           "1 won token=9x", "1 won token=-1", "1 won mode=pr"}) {
    EXPECT_THROW(parse(line), std::invalid_argument) << line;
  }
}

TEST(Event, IsMergedByTime) {
  const std::string one = testing::TempDir() + "history_one",
                    two = testing::TempDir() + "history_two";
  std::ofstream(one) << "1 called\n4 won\n4 lost\n";
  std::ofstream(two) << "2 called\n4 failed\n";
  std::string merged;
  for (const auto& next : read_merged({one, two})) merged += to_line(next) + "; ";
  EXPECT_EQ(merged, "1 called; 2 called; 4 won; 4 lost; 4 failed; ");
  std::filesystem::remove(one);
  std::filesystem::remove(two);
  EXPECT_THROW(read_merged({one}), std::invalid_argument);
}

}  // namespace
}  // namespace holdfast::history
