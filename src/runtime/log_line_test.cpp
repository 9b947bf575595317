#include "runtime/log_line.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace holdfast::runtime {
namespace {

using namespace std::chrono_literals;

void expect_line(const event& what, log_level level, const char* text) {
  const auto line = line_of(what);
  ASSERT_TRUE(line) << text;
  EXPECT_EQ(line->level, level) << text;
  EXPECT_EQ(line->text, text);
}

TEST(LogLine, IsWhatAPersonShouldRead) {
  expect_line({.type = event_type::lost, .name = "a", .duration = 1234ms}, log_level::warning,
              "the lock 'a' was lost after 1234 ms");
  expect_line({.type = event_type::renewed_late, .name = "a", .duration = 1500us},
              log_level::warning,
              "the lock 'a' was renewed 2 ms late: the server or the network is slow");
  expect_line({.type = event_type::released, .name = "a", .error = errc::unavailable},
              log_level::warning,
              "the release of the lock 'a' was not confirmed: the server cannot be reached or did "
              "not answer in time");
  expect_line({.type = event_type::reconnected, .server = "h:1"}, log_level::info,
              "connected again, to h:1");
  expect_line({.type = event_type::failed_over, .server = "h:1"}, log_level::warning,
              "another server answers at h:1, and is asked about all leases");
  expect_line({.type = event_type::login_failed, .server = "h:1", .detail = "it said \"no\""},
              log_level::warning, "a login was refused by h:1: it said \"no\"");
  expect_line({.type = event_type::login_failed, .detail = "the provider failed"},
              log_level::warning, "the provider failed");
}

TEST(LogLine, IsNotMadeOfWhatIsOrdinary) {
  for (const auto type : {event_type::asked, event_type::granted, event_type::refused,
                          event_type::released, static_cast<event_type>(1000)}) {
    EXPECT_FALSE(line_of({.type = type, .name = "a"}));
  }
}

TEST(LogLine, IsOneLineWhateverIsInAName) {
  expect_line({.type = event_type::lost, .name = "a\n\x1b[2Jb"}, log_level::warning,
              "the lock 'a\\n\\x1b[2Jb' was lost after 0 ms");
}

}  // namespace
}  // namespace holdfast::runtime
