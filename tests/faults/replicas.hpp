// A master and its replica, for tests of grants that count only when replicas have them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "faults/faulty_server.hpp"

namespace holdfast::faults {

inline client_options demanding(client_options with = {.response_timeout = support::generous}) {
  with.min_replicas = 1;
  return with;
}

// A master with one replica.
class replicas_test : public fault_test {
 protected:
  void SetUp() override {
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    master_.emplace(
        support::server_settings{.program = GetParam(), .tcp = true, .arguments = quick()});
    replica_.emplace(follower({}));
    ASSERT_TRUE(eventually([&] { return replicas_in_step() == 1; }));
    // It is in step as soon as it is sent everything, and answers when it has loaded that.
    ASSERT_FALSE(master().command({"SET", value_key("first"), ""}).is(resp::type::error));
    ASSERT_TRUE(eventually([&] { return knows(replica(), "first"); }));
  }

  static std::vector<std::string> quick() {
    return {"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"};
  }
  support::server_settings follower(const std::vector<std::string>& more) {
    auto arguments = quick();
    arguments.insert(arguments.end(),
                     {"--replicaof", "127.0.0.1", std::to_string(master().port())});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return {.program = GetParam(), .tcp = true, .arguments = arguments};
  }
  private_server& master() { return *master_; }
  private_server& replica() { return *replica_; }
  std::int64_t replicas_in_step() { return master().command({"WAIT", "9", "1"}).number; }
  bool knows(private_server& server, const std::string& name) {
    return server.command({"EXISTS", value_key(name)}).number == 1;
  }

 private:
  std::optional<private_server> master_, replica_;
};

}  // namespace holdfast::faults
