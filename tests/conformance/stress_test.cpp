// Many threads that acquire, cancel and time out at once. Made for ThreadSanitizer, too.
#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

class Stress : public mutex_test {
 protected:
  static constexpr int threads = 64;
  static constexpr int rounds = 60;

  // One attempt of a random kind; a cancelled or impatient one may come to nothing.
  void attempt(std::mt19937& random) {
    const auto which = random() % locks_.size();
    const auto lock = clients_[random() % clients_.size()].mutex("lock " + std::to_string(which),
                                                                 options_[which]);
    std::stop_source stop;
    std::thread canceller;
    acquire_options how{.timeout = generous};
    const auto kind = random() % 4;
    if (kind == 0) how.timeout = milliseconds(random() % 5);
    if (kind == 1) canceller = std::thread{[&] { stop.request_stop(); }};
    const auto held = lock.try_acquire(how, stop.get_token());
    if (canceller.joinable()) canceller.join();
    if (held) return locks_[which].enter(*held);
    const auto reason = held.error().reason();
    ++(reason == errc::cancelled ? cancelled_ : gave_up_);
    const bool meant = kind == 0 ? reason == errc::busy || reason == errc::timed_out
                                 : kind == 1 && reason == errc::cancelled;
    EXPECT_TRUE(meant) << kind << ": " << held.error().what();
  }

  void run() {
    for (int i = 0; i < 3; ++i) clients_.push_back(another_client());
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([this, i] {
        std::mt19937 random(static_cast<std::uint32_t>(i));
        for (int round = 0; round < rounds; ++round) attempt(random);
      });
    }
    for (auto& one : all) one.join();
    clients_.clear();
  }

  std::array<one_at_a_time, 3> locks_;
  std::atomic<int> cancelled_{0};
  std::atomic<int> gave_up_{0};

 private:
  const std::array<mutex_options, 3> options_{mutex_options{}, mutex_options{.fair = true},
                                              mutex_options{.retain = 20ms}};
  std::vector<client> clients_;
};
HOLDFAST_ON_EACH_SERVER(Stress);

TEST_P(Stress, ManyThreadsThatAcquireCancelAndTimeOut) {
  run();
  int entered = 0;
  for (const auto& lock : locks_) entered += lock.entered();
  EXPECT_GE(entered, threads * rounds / 3) << "half of all attempts are patient";
  EXPECT_GT(cancelled_, 0);
  EXPECT_GT(gave_up_, 0);
  for (const auto& key : server().command({"KEYS", "hf:{*"}).items) ADD_FAILURE() << key.text;
}

}  // namespace
}  // namespace holdfast::conformance
