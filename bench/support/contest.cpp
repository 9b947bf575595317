#include "support/contest.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <new>

#include "support/measure.hpp"

namespace holdfast::bench {
namespace {

// All of 16 have come before what they do is counted.
constexpr std::chrono::milliseconds arrival_distance{20}, warm_up{500};

}  // namespace

void tally::await_turn(int process, int thread) const {
  wait_for(arrival_distance * (thread * processes_ + process));
}

void tally::on_acquired(int process, int contender, monotonic_time asked_at) noexcept {
  const auto got = net::now();
  const bool counts = counting_.load(std::memory_order_relaxed);
  const bool switched = last_thread_.exchange(contender) != contender;
  if (last_process_.exchange(process) != process && counts) ++by_another_process_;
  if (!counts) return;
  ++acquired_[static_cast<std::size_t>(contender)];
  if (switched) {
    ++by_another_thread_;
    const auto took = got.time_since_epoch().count() - released_at_;
    const auto bucket = static_cast<std::size_t>(std::max<std::int64_t>(0, took) / 1000);
    ++handed_over_[std::min(bucket, buckets - 1)];
  }
  const auto waited = nanoseconds(got - asked_at).count();
  if (waited > longest_wait_) longest_wait_ = waited;
}

pid_t contest::begin(tally& all, const work& task, int process) const {
  const pid_t child = ::fork();
  if (child != 0) return child;
  task(all, process, threads);
  ::_exit(0);
}

contest::outcome contest::run(const work& task, const std::function<void()>& around) const {
  void* const memory =
      ::mmap(nullptr, sizeof(tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& all = *new (memory) tally;
  all.processes_ = processes;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) children.push_back(begin(all, task, p));
  wait_for(warm_up);
  around();
  all.counting_ = true;
  const auto from = net::now();
  wait_for(length);
  all.counting_ = false;
  const double seconds = std::chrono::duration<double>(net::now() - from).count();
  around();
  all.stop_ = true;
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  const auto result = sum_up(all, seconds);
  ::munmap(memory, sizeof(tally));
  return result;
}

contest::outcome contest::sum_up(const tally& all, double seconds) const {
  const auto total_of = [&](int first, int count) {
    double sum = 0;
    for (int i = first; i < first + count; ++i) {
      sum += static_cast<double>(all.acquired_[static_cast<std::size_t>(i)].load());
    }
    return sum;
  };
  const int contenders = processes * threads;
  const double total = total_of(0, contenders);
  double squares = 0, least = total;
  for (int i = 0; i < contenders; ++i) squares += total_of(i, 1) * total_of(i, 1);
  for (int p = 0; p < processes; ++p) least = std::min(least, total_of(p * threads, threads));
  std::uint64_t seen = 0, half = all.by_another_thread_ / 2;
  std::size_t p50 = 0;
  while (p50 < tally::buckets - 1 && (seen += all.handed_over_[p50]) < half) ++p50;
  return {total / seconds,
          static_cast<double>(all.by_another_thread_) / seconds,
          static_cast<double>(all.by_another_process_) / seconds,
          total * total / (contenders * squares),
          least / (total / processes),
          static_cast<double>(p50),
          static_cast<double>(all.longest_wait_) / 1e6,
          static_cast<double>(all.disordered_)};
}

}  // namespace holdfast::bench
