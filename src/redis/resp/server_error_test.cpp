#include "redis/resp/server_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

namespace holdfast::resp {
namespace {

// A row of docs/server-errors.md.
struct row {
  std::string reply;
  std::string code;
  std::string passing;
  std::string advice;
};

std::string without(const std::string& text, const char* margin) {
  const std::size_t first = text.find_first_not_of(margin);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(margin) + 1 - first);
}

// The text in back-quotes, without the words before it.
std::string code_in(const std::string& cell) {
  return without(cell.substr(std::min(cell.find('`'), cell.size())), "` ");
}

std::optional<row> read_row(const std::string& line) {
  if (!line.starts_with("| ") || !line.ends_with(" |")) return std::nullopt;
  std::vector<std::string> cells;
  std::istringstream rest{line.substr(1)};
  for (std::string cell; std::getline(rest, cell, '|');) cells.push_back(without(cell, " "));
  if (cells.size() != 4 || cells[0] == "reply" || cells[0] == "---") return std::nullopt;
  return row{code_in(cells[0]), code_in(cells[1]), cells[2], cells[3]};
}

std::vector<row> documented_rows() {
  std::ifstream document{HOLDFAST_DOCS "/server-errors.md"};
  std::vector<row> rows;
  for (std::string line; std::getline(document, line);) {
    if (auto found = read_row(line)) rows.push_back(*found);
  }
  return rows;
}

errc code_of(const std::string& name) {
  static const std::map<std::string, errc> codes = {
      {"unavailable", errc::unavailable},
      {"authentication", errc::authentication},
      {"permission_denied", errc::permission_denied},
      {"foreign_key", errc::foreign_key},
      {"out_of_memory", errc::out_of_memory},
      {"read_only", errc::read_only},
      {"loading", errc::loading},
      {"server_busy", errc::server_busy},
      {"misconfigured", errc::misconfigured},
      {"no_replicas", errc::no_replicas},
      {"server_error", errc::server_error},
      {"invalid_url", errc::invalid_url},
      {"unsupported", errc::unsupported},
  };
  return codes.at(name);
}

void expect_row(const row& expected, const std::string& reply) {
  const server_error got = classify(reply);
  EXPECT_EQ(got.code, code_of(expected.code)) << reply;
  EXPECT_EQ(got.passing, expected.passing == "yes") << reply;
  EXPECT_EQ(got.no_script, expected.reply.starts_with("NOSCRIPT")) << reply;
  EXPECT_TRUE(got.detail.ends_with("\"; " + expected.advice)) << got.detail;
}

TEST(server_error, is_what_its_document_says) {
  const std::vector<row> rows = documented_rows();
  ASSERT_GT(rows.size(), 30U) << "docs/server-errors.md is missing or its table unreadable";
  for (const row& expected : rows) {
    EXPECT_TRUE(expected.passing == "yes" || expected.passing == "no") << expected.reply;
    expect_row(expected, expected.reply);
    EXPECT_NE(classify(expected.reply).detail.find(expected.reply.substr(0, 12)),
              std::string::npos);
  }
}

TEST(server_error, is_the_same_inside_scripts_of_every_version) {
  const std::string sha1 = "6b1bf486c81ceb7edf3c093f4c48582e38c0e791";
  for (const row& expected : documented_rows()) {
    std::string core = expected.reply;
    if (core.starts_with("ERR ")) core.erase(0, 4);
    const std::string before = "ERR Error running script (call to f_" + sha1 + "): ";
    expect_row(expected, expected.reply + " script: " + sha1 + ", on @user_script:1.");
    expect_row(expected, before + "@user_script:1: " + core + " ");
    expect_row(expected, before + "@user_script: 12: -" + core);
    expect_row(expected, "@user_script: 12: " + core);
    expect_row(expected, before + "@user_script:1: @user_script: 1: -" + expected.reply);
  }
}

TEST(server_error, has_every_rule_documented) {
  const std::vector<row> rows = documented_rows();
  for (const server_error_rule& rule : server_error_rules()) {
    const bool documented = std::any_of(rows.begin(), rows.end(), [&](const row& r) {
      const std::string begins{rule.begins};
      return r.reply.starts_with(begins) || r.reply.starts_with("ERR " + begins);
    });
    EXPECT_TRUE(documented) << rule.begins;
  }
}

TEST(server_error, compares_whole_codes) {
  EXPECT_EQ(classify("OOM").code, errc::out_of_memory);
  for (const char* other : {"BUSYKEY Target key name already exists.", "ASKING x", "OOMX", "",
                            "ERR", "ERR ", "ERR Error running script (call to ", "oom command",
                            "ERR Error running script (call to f_0): @user_script:",
                            "ERR Script attempted to access nonexistent global variable 'x'"}) {
    EXPECT_EQ(classify(other).code, errc::server_error) << other;
    EXPECT_FALSE(classify(other).passing) << other;
  }
}

TEST(server_error, never_repeats_a_secret) {
  const std::string id = "000ff0ff123456789abcdef001234567";
  for (const char* reply :
       {"ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, `me`, `hunter2`, ",
        "ERR unknown command 'GET', with args beginning with: 'hunter2'"}) {
    EXPECT_EQ(classify(reply).detail.find("hunter2"), std::string::npos);
  }
  const std::string detail = classify("ERR bad value " + id + "-2a at key").detail;
  EXPECT_EQ(detail.find(id.substr(0, 9)), std::string::npos) << detail;
  EXPECT_NE(detail.find("bad value 000ff0ff-2a at key"), std::string::npos) << detail;
}

TEST(server_error, quotes_shortly_and_harmlessly) {
  const std::string detail = classify("ERR \x1b[2J\r\n" + std::string(10'000, 'x')).detail;
  EXPECT_LT(detail.size(), 300U);
  EXPECT_TRUE(detail.starts_with(R"(the server said "ERR \x1b[2J\r\nxxx)")) << detail;
}

}  // namespace
}  // namespace holdfast::resp
