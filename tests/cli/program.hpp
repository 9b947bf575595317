// Calls of the program under test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/child_process.hpp"
#include "support/each_server.hpp"

namespace holdfast::cli_tests {

using support::child_process;
using support::ending;
using support::eventually;
using support::finished;
using support::private_server;
using support::program_call;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using words = std::vector<std::string>;

// A call with nothing in the environment that could choose another server or user.
inline program_call call(words arguments, words environment = {}) {
  words clean = {"HOLDFAST_URL",           "HOLDFAST_USER",
                 "HOLDFAST_PASSWORD",      "HOLDFAST_PASSWORD_COMMAND",
                 "HOLDFAST_SENTINEL_USER", "HOLDFAST_SENTINEL_PASSWORD",
                 "HOLDFAST_TENANT",        "HOLDFAST_AUDIT",
                 "HOLDFAST_HELD"};
  clean.insert(clean.end(), environment.begin(), environment.end());
  return {.program = HOLDFAST_PROGRAM,
          .arguments = std::move(arguments),
          .environment = std::move(clean),
          .own_group = true};
}

inline program_call call_at(const private_server& server, words arguments) {
  return call(std::move(arguments), {"HOLDFAST_URL=" + server.url()});
}

inline finished holdfast(words arguments, words environment = {}) {
  return support::run(call(std::move(arguments), std::move(environment)));
}

inline finished holdfast_at(const private_server& server, words arguments) {
  return support::run(call_at(server, std::move(arguments)));
}

// `url` with this login.
inline std::string logged_in(const std::string& url, const std::string& login) {
  const auto host = url.find("://") + 3;
  return url.substr(0, host) + login + "@" + url.substr(host);
}

inline constexpr ending exited(int code) { return {.exit_code = code, .signal = 0}; }

// The program, which holds a lock until this is destroyed.
class holder {
 public:
  holder(const private_server& server, const std::string& name)
      : program_(call_at(server, {"run", name, "--", "sh", "-c", "echo in; exec cat"})) {
    EXPECT_TRUE(program_.wait_for_output("in"));
  }
  pid_t pid() const { return program_.pid(); }

 private:
  child_process program_;
};

class CommandLine : public support::server_test {};

}  // namespace holdfast::cli_tests
