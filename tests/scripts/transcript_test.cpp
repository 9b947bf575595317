// The answers and writes of each script, to the microsecond and the byte: transcripts/*.txt. After
// a change that is meant, HOLDFAST_WRITE_TRANSCRIPTS=1 writes them anew: read the differences.
#include "scripts/transcript.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <vector>

#include "support/each_server.hpp"

namespace holdfast::dialects {
namespace {

std::vector<std::string> files() {
  std::vector<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator(HOLDFAST_TRANSCRIPTS)) {
    names.push_back(each.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Transcript : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};
INSTANTIATE_TEST_SUITE_P(On, Transcript,
                         ::testing::Combine(::testing::ValuesIn(files()),
                                            ::testing::ValuesIn(support::server_programs())),
                         [](const auto& info) {
                           const auto program = std::get<1>(info.param);
                           return std::get<0>(info.param) + '_' +
                                  program.substr(0, program.find('-'));
                         });

TEST_P(Transcript, IsPlayedAgain) {
  const auto& [name, program] = GetParam();
  support::clock_shim clock;
  const support::private_server server({.program = program, .environment = clock.environment()});
  transcript played(server, clock);
  if (!played.clock_stands_still()) GTEST_SKIP() << "the clock of " << program << " goes on";
  if (name == "cluster" && !played.knows("SPUBLISH")) {
    GTEST_SKIP() << program << " knows no channels of a hash slot";
  }

  const auto path = std::filesystem::path(HOLDFAST_TRANSCRIPTS) / (name + ".txt");
  std::ifstream file(path);
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  const auto now = played.play(written);
  if (std::getenv("HOLDFAST_WRITE_TRANSCRIPTS") != nullptr) {
    std::ofstream(path) << now;
  } else {
    EXPECT_EQ(now, written);
  }
}

}  // namespace
}  // namespace holdfast::dialects
