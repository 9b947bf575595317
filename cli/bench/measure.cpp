#include "cli/bench/measure.hpp"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>

#include <holdfast/errc.hpp>

namespace holdfast::cli::bench {
namespace {

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

class running {
 public:
  void repeat(const std::function<void()>& action) {
    std::vector<std::uint32_t> own;
    try {
      auto before = now_ns();
      while (!ended_.load(std::memory_order_relaxed)) {
        action();
        const auto after = now_ns();
        own.push_back(static_cast<std::uint32_t>(
            std::min<std::int64_t>(after - before, std::numeric_limits<std::uint32_t>::max())));
        before = after;
      }
    } catch (...) {
      const std::lock_guard guard(mutex_);
      if (!error_) error_ = std::current_exception();
      ended_ = true;
    }
    const std::lock_guard guard(mutex_);
    all_.insert(all_.end(), own.begin(), own.end());
  }

  // The signal that came before the time was over.
  std::optional<int> wait(std::int64_t until, signal_watch& signals) {
    constexpr std::int64_t look_again_ms = 50;  // whether an action has failed
    std::optional<int> caught;
    while (!ended_ && !caught && now_ns() < until) {
      pollfd watched{signals.fd(), POLLIN, 0};
      const auto left_ms = (until - now_ns()) / 1'000'000 + 1;
      ::poll(&watched, 1, static_cast<int>(std::clamp<std::int64_t>(left_ms, 1, look_again_ms)));
      caught = signals.next_that_ends();
    }
    ended_ = true;
    return caught;
  }

  std::vector<std::uint32_t> result() {
    if (error_) std::rethrow_exception(error_);
    std::ranges::sort(all_);
    return std::move(all_);
  }

 private:
  std::atomic<bool> ended_ = false;
  std::mutex mutex_;
  std::vector<std::uint32_t> all_;
  std::exception_ptr error_;
};

}  // namespace

double measurement::microseconds_at(double share) const {
  const auto index = static_cast<std::size_t>(share * static_cast<double>(nanoseconds.size()));
  return nanoseconds[std::min(index, nanoseconds.size() - 1)] / 1000.0;
}

measurement measure(const std::vector<std::function<void()>>& actions, std::chrono::seconds time,
                    signal_watch& signals) {
  running all;
  const auto start = now_ns();
  std::optional<int> caught;
  {
    std::vector<std::jthread> threads;
    threads.reserve(actions.size());
    for (const auto& action : actions) threads.emplace_back([&] { all.repeat(action); });
    caught = all.wait(start + std::chrono::nanoseconds(time).count(), signals);
  }
  const auto took = static_cast<double>(now_ns() - start) / 1e9;
  if (caught) throw interrupted{*caught};
  measurement done{.nanoseconds = all.result()};
  if (done.nanoseconds.empty()) throw failure{errc::timed_out, "nothing was done in time"};
  done.per_second = static_cast<double>(done.nanoseconds.size()) / took;
  return done;
}

}  // namespace holdfast::cli::bench
