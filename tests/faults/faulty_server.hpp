// Shared by the fault tests: a client of a server of its own, and the form of its failures.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include <holdfast/holdfast.hpp>

#include "support/each_server.hpp"
#include "support/eventually.hpp"

namespace holdfast::faults {

using support::eventually;
using support::private_server;
using namespace std::chrono_literals;

// The password of every server in these tests. It must never be seen in a message.
inline constexpr const char* password = "hunter2-correct-horse";

// Gives up on a silent server soon, so that tests about silence are short.
inline client_options impatient() {
  client_options options;
  options.connect_timeout = 500ms;
  options.response_timeout = 500ms;
  return options;
}

// Where nothing is silent on purpose: a server on a busy machine takes its time.
inline client_options patient() {
  client_options options;
  options.connect_timeout = support::generous;
  options.response_timeout = support::generous;
  return options;
}

// Fails the test unless `got` is this error and explains itself.
template <typename T>
void expect_failure(const result<T>& got, errc reason, const std::string& explanation) {
  ASSERT_FALSE(got) << "expected: " << make_error_code(reason).message();
  const std::string what = got.error().what();
  EXPECT_EQ(got.error().reason(), reason) << what;
  EXPECT_THAT(what, ::testing::HasSubstr(explanation));
  EXPECT_THAT(what, ::testing::Not(::testing::HasSubstr(password)));
}

template <typename T>
std::string why_not(const result<T>& got) {
  return got ? std::string("no error") : std::string(got.error().what());
}

class fault_test : public support::server_test {
 protected:
  static std::string value_key(const std::string& name) { return "hf:{" + name + "}"; }
};

}  // namespace holdfast::faults
