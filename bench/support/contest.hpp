// One lock that many threads of many processes want: how fast it goes round, and how fairly.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "net/clock.hpp"

namespace holdfast::bench {

// The counts of the contenders of all processes, in memory that they share.
class tally {
 public:
  bool is_over() const noexcept { return stop_; }

  // Before a contender begins: those of a process do not come together.
  void await_turn(int process, int thread) const;

  // Around each acquisition.
  void on_acquired(int process, int contender, monotonic_time asked_at) noexcept;
  // While it is held: each must be larger than the one before, of whichever process.
  void on_token(std::uint64_t token) noexcept {
    if (token <= last_token_.exchange(token)) ++disordered_;
  }
  void before_release() noexcept { released_at_ = net::now().time_since_epoch().count(); }

 private:
  friend struct contest;
  static constexpr int most = 64;                 // contenders
  static constexpr std::size_t buckets = 20'000;  // of a microsecond

  std::array<std::atomic<std::uint64_t>, most> acquired_{};
  std::array<std::atomic<std::uint64_t>, buckets> handed_over_{};  // release to return
  std::atomic<std::uint64_t> by_another_thread_{0}, by_another_process_{0};
  std::atomic<std::int64_t> released_at_{0}, longest_wait_{0};
  std::atomic<std::uint64_t> last_token_{0}, disordered_{0};
  std::atomic<int> last_thread_{-1}, last_process_{-1};
  int processes_ = 1;
  std::atomic<bool> counting_{false}, stop_{false};
};

struct contest {
  int processes;
  int threads;  // of each
  nanoseconds length;

  struct outcome {
    double rate, switches, process_switches;  // a second
    double jain, least_share;                 // of the contenders; of a process
    double handover_p50;                      // microseconds
    double longest_wait;                      // milliseconds
    double disordered;                        // tokens
  };

  // The work of one process's threads, until it is over: contend().
  using work = std::function<void(tally& all, int process, int threads)>;

  // `around` is called before and after.
  outcome run(
      const work& task, const std::function<void()>& around = [] {}) const;

 private:
  pid_t begin(tally& all, const work& task, int process) const;
  outcome sum_up(const tally& all, double seconds) const;
};

// `acquire`: makes what is called for each acquisition of the thread with this number, and gives
// something that releases when it is destroyed.
template <typename Acquire>
void contend(tally& all, int process, int threads, const Acquire& acquire) {
  std::vector<std::jthread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&, t, me = process * threads + t] {
      auto next = acquire(me);
      all.await_turn(process, t);
      while (!all.is_over()) {
        const auto asked_at = net::now();
        const auto held = next();
        all.on_acquired(process, me, asked_at);
        if constexpr (requires { held.token(); }) all.on_token(held.token().value());
        all.before_release();
      }
    });
  }
}

}  // namespace holdfast::bench
