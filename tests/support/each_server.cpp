#include "support/each_server.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace holdfast::support {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (const auto& folder : split(path != nullptr ? path : "", ':')) {
    if (::access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// The value of HOLDFAST_TEST_SERVERS; null when it is not set.
const char* restriction() { return std::getenv("HOLDFAST_TEST_SERVERS"); }

bool named_by_restriction(const std::string& program) {
  const auto named = split(restriction(), ',');
  return std::find(named.begin(), named.end(), program) != named.end();
}

}  // namespace

const std::vector<std::string>& supported_servers() {
  static const std::vector<std::string> programs{"redis-server", "valkey-server"};
  return programs;
}

std::vector<std::string> server_programs() {
  auto programs = supported_servers();
  std::erase_if(programs, [](const std::string& program) {
    return !installed(program) || (restriction() != nullptr && !named_by_restriction(program));
  });
  return programs;
}

void server_test::SetUp() {
  const auto& program = GetParam();
  if (restriction() != nullptr && !named_by_restriction(program)) {
    GTEST_SKIP() << "HOLDFAST_TEST_SERVERS leaves out " << program << ".";
  }
  if (installed(program)) return;
  const auto missing = program + " is not installed: install the package '" + program + "'.";
  ASSERT_EQ(restriction(), nullptr) << missing << " HOLDFAST_TEST_SERVERS asks for it.";
  GTEST_SKIP() << missing;
}

std::string server_test_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param.substr(0, info.param.find('-'));
}

}  // namespace holdfast::support
