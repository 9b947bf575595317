// holdfast capabilities, and the table in docs/kinds.md.
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

// The words of a line, without what only draws a table.
words cells(const std::string& line) {
  std::string plain;
  for (const char c : line) {
    if (c != '|' && c != '`') plain += c;
  }
  std::istringstream all(plain);
  return {std::istream_iterator<std::string>(all), {}};
}

// The first table of a document, without the line below its headings.
std::vector<words> first_table(const std::string& path) {
  std::ifstream file(std::string(HOLDFAST_SOURCES) + path);
  std::vector<words> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("|")) {
      if (!line.starts_with("| ---")) rows.push_back(cells(line));
    } else if (!rows.empty()) {
      break;
    }
  }
  return rows;
}

TEST(CapabilitiesOfKinds, AreThoseOfTheDocumentation) {
  const auto said = holdfast({"capabilities"});
  ASSERT_EQ(said.how, exited(0)) << said.errors;
  std::vector<words> rows;
  std::istringstream lines(said.output);
  for (std::string line; std::getline(lines, line);) rows.push_back(cells(line));
  ASSERT_GT(rows.size(), 15U);
  for (auto& heading : rows.front()) {
    for (auto& letter : heading) letter = static_cast<char>(std::tolower(letter));
  }
  EXPECT_EQ(first_table("/docs/kinds.md"), rows);
}

TEST(CapabilitiesOfKinds, AreToldInJson) {
  const auto all = nlohmann::json::parse(holdfast({"--json", "capabilities"}).output)["kinds"];
  EXPECT_GT(all.size(), 15U);
  const auto& mutex = all[0];
  EXPECT_EQ(mutex["dialect"], "holdfast");
  EXPECT_EQ(mutex["kind"], "mutex");
  EXPECT_EQ(mutex["made_by"], "client.mutex(name)");
  EXPECT_EQ(mutex["passed_on"], true);
  EXPECT_EQ(mutex["commands"]["to_release"], 1);
}

}  // namespace
}  // namespace holdfast::cli_tests
