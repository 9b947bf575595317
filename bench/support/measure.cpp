#include "support/measure.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <thread>

#include "net/clock.hpp"

namespace holdfast::bench {
namespace {

double percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

double microseconds_of(nanoseconds time) { return static_cast<double>(time.count()) / 1000; }

// `server`: its time for all of them.
slice summed_up(const std::vector<slice>& all, nanoseconds server) {
  const auto of = [&all](double slice::*member) {
    std::vector<double> values;
    for (const auto& one : all) values.push_back(one.*member);
    return median(std::move(values));
  };
  double pairs = 0;
  for (const auto& one : all) pairs += one.pairs;
  return {.rate = of(&slice::rate),
          .p50 = of(&slice::p50),
          .p99 = of(&slice::p99),
          .processor = of(&slice::processor),
          .pairs = pairs,
          .server = pairs > 0 ? microseconds_of(server) / pairs : 0};
}

}  // namespace

slice run_slice(int threads, nanoseconds length, const std::function<void(int)>& pair) {
  std::vector<std::vector<double>> times(static_cast<std::size_t>(threads));
  const auto processor_before = own_processor_time();
  const auto begin = net::now();
  const auto work = [&](int self) {
    auto& mine = times[static_cast<std::size_t>(self)];
    mine.reserve(1 << 16);
    for (auto now = net::now(); now < begin + length;) {
      pair(self);
      const auto after = net::now();
      mine.push_back(microseconds_of(after - now));
      now = after;
    }
  };
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(work, i);
    work(0);
  }
  const auto took = net::now() - begin;
  const auto processor = own_processor_time() - processor_before;
  std::vector<double> all;
  for (const auto& some : times) all.insert(all.end(), some.begin(), some.end());
  const auto count = static_cast<double>(all.size());
  return {.rate = count / std::chrono::duration<double>(took).count(),
          .p50 = percentile(all, 0.5),
          .p99 = percentile(all, 0.99),
          .processor = microseconds_of(processor) / count,
          .pairs = count};
}

std::vector<slice> run_by_turns(const server& redis, int rounds,
                                const std::vector<contestant>& all) {
  return run_by_turns([&redis] { return redis.processor_time(); }, rounds, all);
}

std::vector<slice> run_by_turns(const std::function<nanoseconds()>& server_time, int rounds,
                                const std::vector<contestant>& all) {
  std::vector<std::vector<slice>> gathered(all.size());
  std::vector<nanoseconds> served(all.size());
  for (const auto& one : all) (void)one();  // warm up
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto before = server_time();
      gathered[i].push_back(all[i]());
      served[i] += server_time() - before;
    }
  }
  std::vector<slice> sums;
  for (std::size_t i = 0; i < all.size(); ++i) {
    sums.push_back(summed_up(gathered[i], served[i]));
  }
  return sums;
}

double median(std::vector<double> values) { return percentile(values, 0.5); }

void wait_for(nanoseconds length) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(length);
  const ::timespec time{seconds.count(), (length - seconds).count()};
  ::nanosleep(&time, nullptr);
}

nanoseconds own_processor_time() {
  ::rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto of = [](const ::timeval& t) {
    return std::chrono::seconds(t.tv_sec) + microseconds(t.tv_usec);
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

}  // namespace holdfast::bench
