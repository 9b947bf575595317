// Threads at work while the server forgets its scripts and throws its clients out. Made for
// ThreadSanitizer, too: it has found threads that read the socket without the role.
#include <atomic>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

// Threads that take one of a few locks in turn, and watch that nobody else has it.
class crowd {
 public:
  crowd(const client& redis, int threads, int locks) : places_(static_cast<std::size_t>(locks)) {
    for (int i = 0; i < threads; ++i) {
      workers_.emplace_back([this, redis, i] {
        for (auto n = static_cast<std::size_t>(i); !enough_; ++n) take(redis, n % places_.size());
      });
    }
  }
  ~crowd() { stop(); }

  void stop() {
    enough_ = true;
    for (auto& worker : workers_) worker.join();
    workers_.clear();
  }
  int taken() const { return taken_; }
  int failed() const { return failed_; }

 private:
  struct place {
    std::atomic<int> inside{0};
    std::uint64_t last = 0;  // the lock guards it
  };

  void take(const client& redis, std::size_t which) {
    auto held = redis.mutex("lock:" + std::to_string(which)).try_acquire({.timeout = 20s});
    if (!held) {
      ++failed_;
      ADD_FAILURE() << held.error().what();
      return;
    }
    auto& here = places_[which];
    EXPECT_EQ(here.inside.fetch_add(1), 0);
    EXPECT_GT(held->token().value(), here.last);
    here.last = held->token().value();
    EXPECT_TRUE(held->held());
    here.inside.fetch_sub(1);
    if (const auto released = held->release(); !released) {
      ++failed_;
      ADD_FAILURE() << released.error().what();
    }
    ++taken_;
  }

  std::vector<place> places_;
  std::atomic<bool> enough_{false};
  std::atomic<int> taken_{0};
  std::atomic<int> failed_{0};
  std::vector<std::thread> workers_;
};

class TurnedAway : public mutex_test {};
HOLDFAST_ON_EACH_SERVER(TurnedAway);

TEST_P(TurnedAway, ForgottenScriptsAreNotNoticed) {
  const auto kept = redis().mutex("kept", {.lease = 2500ms}).acquire();
  crowd load(redis(), 8, 3);
  const auto end = net::now() + 2s;
  int flushes = 0;
  while (net::now() < end) {
    EXPECT_EQ(server().command({"SCRIPT", "FLUSH"}).text, "OK");
    ++flushes;
  }
  EXPECT_TRUE(eventually([&] { return load.taken() > 100; }));
  load.stop();
  EXPECT_GT(flushes, 10);
  EXPECT_EQ(load.failed(), 0);
  EXPECT_TRUE(kept.held());
}

TEST_P(TurnedAway, ThrownOutClientsComeBackAndStayExclusive) {
  client_options options;
  options.connect_timeout = 500ms;
  options.response_timeout = 500ms;  // a resent acquire waits that long
  const client hurried{server().url(), options};
  crowd load(hurried, 16, 3);
  for (int kills = 0; kills < 8; ++kills) {
    // A connection that listens to its channel counts as one for messages.
    server().command({"CLIENT", "KILL", "TYPE", "pubsub"});
    const int seen = load.taken();
    EXPECT_TRUE(eventually([&] { return load.taken() > seen + 20; }));
  }
  load.stop();
  EXPECT_EQ(load.failed(), 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(server().command({"EXISTS", "hf:{lock:" + std::to_string(i) + "}"}).number, 0);
  }
}

}  // namespace
}  // namespace holdfast::conformance
