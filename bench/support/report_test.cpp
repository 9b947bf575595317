#include "support/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace holdfast::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStdout;

std::string read(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

class Report : public testing::Test {
 protected:
  Report() : path_(testing::TempDir() + "bench-report") {}

  static report quietly_made() {
    CaptureStdout();
    const run_facts facts{
        .command = "bench \"a\\b\"", .revision = "1.2", .server = "Redis 7", .cores = 2};
    report made(facts);
    EXPECT_EQ(GetCapturedStdout(), "# bench \"a\\b\"\n# Holdfast 1.2, Redis 7, 2 cores\n");
    return made;
  }

  report results_ = quietly_made();
  const std::string path_;
};

TEST_F(Report, SaysALineForEachFigureAndWhetherItHolds) {
  CaptureStdout();
  results_.at_most("a.ratio", 1.15, "ratio", 1.15);
  results_.at_most("b.ratio", 1.16, "ratio", 1.15);
  results_.at_least("c.rate", 100'000, "1/s", 110'000);
  results_.at_least("d.rate", 110'000, "1/s", 110'000);
  results_.tell("e.cpu", 12.345, "us");
  results_.skip("f", "no peer");
  EXPECT_EQ(GetCapturedStdout(),
            "a.ratio 1.15 ratio <= 1.15 holds\n"
            "b.ratio 1.16 ratio <= 1.15 short\n"
            "c.rate 100000 1/s >= 110000 short\n"
            "d.rate 110000 1/s >= 110000 holds\n"
            "e.cpu 12.3 us\n"
            "f skipped: no peer\n");
}

TEST_F(Report, HoldsWhenNothingIsShort) {
  CaptureStdout();
  EXPECT_TRUE(results_.all_hold());
  results_.at_most("a", 1, "us", 2);
  results_.tell("b", 1e9, "us");
  results_.skip("c", "why");
  EXPECT_TRUE(results_.all_hold());
  results_.at_least("d", 1, "us", 2);
  EXPECT_FALSE(results_.all_hold());
  GetCapturedStdout();
}

TEST_F(Report, WritesJsonAndAPicture) {
  CaptureStdout();
  results_.at_most("a", 3, "us", 2);
  results_.tell("b", 4, "us");
  results_.at_most("c", 0, "commands", 0);
  GetCapturedStdout();
  results_.write_json(path_);
  const auto document = nlohmann::json::parse(read(path_));
  EXPECT_EQ(document["run"]["command"], "bench \"a\\b\"");
  EXPECT_EQ(document["run"]["holdfast"], "1.2");
  EXPECT_EQ(document["run"]["server"], "Redis 7");
  EXPECT_EQ(document["run"]["cores"], 2);
  const auto all = document["figures"];
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["limit"], "<= 2");
  EXPECT_EQ(all[0]["holds"], false);
  EXPECT_EQ(all[1]["value"], 4);
  EXPECT_FALSE(all[1].contains("holds"));
  results_.write_svg(path_);
  const auto picture = read(path_);
  EXPECT_THAT(picture, HasSubstr("3 (&lt;= 2)"));
  EXPECT_THAT(picture, HasSubstr("</svg>"));
  EXPECT_THAT(picture, Not(HasSubstr(">b<")));  // it is not judged
}

TEST_F(Report, TellsThatItCannotWrite) {
  EXPECT_THROW(results_.write_json("/nowhere/at/all"), std::runtime_error);
}

}  // namespace
}  // namespace holdfast::bench
