// Shared by the conformance tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <atomic>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <holdfast/holdfast.hpp>

#include "support/each_server.hpp"
#include "support/eventually.hpp"
#include "support/thrown_by.hpp"

namespace holdfast::conformance {

using support::eventually;
using support::generous;
using support::private_server;
using support::thrown_by;
using namespace std::chrono_literals;

// Ends the test visibly where there are clusters: this needs one server. That it is refused there,
// if it is, says tests/faults/cluster_test.cpp.
#define HOLDFAST_NEEDS_ONE_SERVER(what) \
  if (support::over_cluster()) GTEST_SKIP() << "not over a cluster: " << (what)

// How Redisson makes known that a lock is free, and how listeners are counted: in a cluster its
// messages stay within a hash slot.
struct message_commands {
  const char* publish = "PUBLISH";
  const char* subscribe = "SUBSCRIBE";
  const char* count = "NUMSUB";
  const char* subscriptions = "subscribe";  // in the server's statistics
  std::int64_t at_a_new_connection = 2;     // of those: our own channel is always a plain one
};
inline message_commands of_redisson() {
  if (!support::over_cluster()) return {};
  return {"SPUBLISH", "SSUBSCRIBE", "SHARDNUMSUB", "ssubscribe", 1};
}

// A fixture with a server and a client of its own.
class mutex_test : public support::server_test {
 protected:
  void SetUp() override {
    support::server_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    server_.emplace(start());
    redis_.emplace(server_->url());
  }

  const private_server& server() const { return *server_; }
  const client& redis() const { return *redis_; }
  client another_client() const { return client{server_->url()}; }

  // Until so many requests wait for this lock at the server.
  bool waits(const std::string& name, std::size_t many, milliseconds bound = generous) const {
    return eventually([&] { return inspector{redis()}.status(name).waiting == many; }, bound);
  }
  std::int64_t called(const std::string& command) const { return server().calls(command); }

 private:
  std::optional<private_server> server_;
  std::optional<client> redis_;
};

// Where one at a time may be, each with a larger token than the one before.
class one_at_a_time {
 public:
  void enter(const lease& held) {
    EXPECT_EQ(inside_.fetch_add(1), 0);
    EXPECT_GT(held.token().value(), last_.exchange(held.token().value()));
    ++entered_;
    --inside_;
  }
  int entered() const { return entered_; }

 private:
  std::atomic<int> inside_{0};
  std::atomic<std::uint64_t> last_{0};
  std::atomic<int> entered_{0};
};

// Blocks until the token is triggered; false when it is not within the bound.
inline bool triggered(const std::stop_token& token, milliseconds bound = generous) {
  return eventually([&] { return token.stop_requested(); }, bound);
}

template <typename T>
void expect_reason(const result<T>& got, errc reason) {
  ASSERT_FALSE(got) << "expected: " << make_error_code(reason).message();
  EXPECT_EQ(got.error().reason(), reason) << got.error().what();
}

}  // namespace holdfast::conformance
