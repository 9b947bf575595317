#include "redis/connection/pipeline.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "redis/connection/connection.hpp"
#include "redis/connection/questions_for_tests.hpp"

namespace holdfast::redis {
namespace {

struct deaf_observer final : connection_observer {
  void on_connected(const session_facts&) override {}
  void on_push(resp::value&, std::uint64_t) override {}
  void on_broken() override {}
};

bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string all;
  std::getline(file, all);
  return all.find(") S ") != std::string::npos;
}

class Pipeline : public testing::Test {
 protected:
  session_settings settings_;
  connection_tuning tuning_;
  net::background_thread helper_;  // not started: nothing connects
  deaf_observer observer_;
  connection home_{settings_, tuning_, helper_, observer_};
  pipeline line_{home_, settings_, tuning_, helper_};
  net::waiter sleeper_{net::waiter::kind::executor, &home_};
  question asked_{&sleeper_};
};

TEST_F(Pipeline, NamesTheThreadThatDrivesIt) {
  line_.submit(asked_, nullptr, delivery::driven);
  EXPECT_EQ(asked_.sleeper(), &sleeper_);
  EXPECT_EQ(asked_.how(), delivery::driven);
}

TEST_F(Pipeline, DoesNotCountOnAThreadThatDrivesAnother) {
  sleeper_.set_home(nullptr);
  question second;
  line_.submit(asked_, &second, delivery::driven);
  EXPECT_EQ(asked_.sleeper(), nullptr);
  EXPECT_EQ(asked_.how(), delivery::prompt);
  EXPECT_EQ(second.how(), delivery::prompt);
}

// The thread is forgotten under the mutex when it has gone: requests that are submitted after that
// must not name it.
TEST_F(Pipeline, SeesThatAThreadHasGoneElsewhereMeanwhile) {
  scoped_mutex lock(line_.guard);
  std::atomic<pid_t> id{0};
  std::thread submits([&] {
    id = ::gettid();
    line_.submit(asked_, nullptr, delivery::driven);
  });
  while (id == 0 || !is_asleep(id)) std::this_thread::yield();
  sleeper_.set_home(nullptr);
  lock.unlock();
  submits.join();
  EXPECT_EQ(asked_.sleeper(), nullptr);
  EXPECT_EQ(asked_.how(), delivery::prompt);
}

}  // namespace
}  // namespace holdfast::redis
