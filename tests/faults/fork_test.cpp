// Forking while other threads are anywhere inside the library.
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "faults/faulty_server.hpp"
#include "support/forked.hpp"

namespace holdfast::faults {
namespace {

// What a child inherits, and what its threads, who are not there any more, were at.
class busy_process {
 public:
  explicit busy_process(const std::string& url) : shared_(url), own_(std::in_place, url) {
    // Renewed all the time, so that the background threads are at work.
    for (int i = 0; i < 64; ++i) {
      const auto& redis = i % 2 == 0 ? shared_ : *own_;
      renewed_.push_back(redis.mutex("kept " + std::to_string(i), {.lease = 300ms}).acquire());
    }
    for (int i = 0; i < 8; ++i) {
      workers_.emplace_back([this, wanted = shared_.mutex("shared " + std::to_string(i % 3))] {
        while (!enough_) {
          auto held = wanted.acquire();
          if (!held.release()) ++failures_;
        }
      });
    }
  }
  ~busy_process() {
    enough_ = true;
    for (auto& worker : workers_) worker.join();
    EXPECT_EQ(failures_, 0);
  }

  // In the child: says what is wrong.
  std::string inherit() {
    for (const auto& held : renewed_) {
      if (held.held()) return "a lease of the parent's is held";
    }
    if (!is_forked([&] { static_cast<void>(shared_.mutex("x").try_acquire()); })) return "shared";
    if (!is_forked([&] { static_cast<void>(renewed_[0].release()); })) return "released";
    const auto url = own_->url();
    renewed_.clear();
    own_.reset();
    const auto got = client{url}.mutex("of a child").try_acquire({.timeout = support::generous});
    return got ? "" : got.error().what();
  }

 private:
  template <typename Call>
  static bool is_forked(Call&& call) {
    try {
      call();
    } catch (const failure& thrown) {
      return thrown.reason() == errc::forked;
    }
    return false;
  }

  const client shared_;
  std::optional<client> own_;  // with handles in this thread only
  std::vector<lease> renewed_;
  std::atomic<bool> enough_{false};
  std::atomic<int> failures_{0};
  std::vector<std::thread> workers_;
};

class Fork : public fault_test {};
HOLDFAST_ON_EACH_SERVER(Fork);

TEST_P(Fork, ChildOfABusyProcessWaitsForNothingThatItInherits) {
  if (!support::allocator_survives_fork) {
    GTEST_SKIP() << "this sanitizer's own locks are not whole in a child of a busy process";
  }
  const auto server = start();
  busy_process parent(server.url());
  for (int i = 0; i < 30; ++i) {
    support::forked child([&](const support::forked::teller& to) {
      ::alarm(20);  // who waits for a thread that is not there waits for ever
      to.tell("wrong: " + parent.inherit());
    });
    ASSERT_EQ(child.heard(), "wrong: ");
    ASSERT_EQ(child.wait(), 0);
  }
}

}  // namespace
}  // namespace holdfast::faults
