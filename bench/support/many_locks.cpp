#include "support/many_locks.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include <holdfast/task.hpp>

namespace holdfast::bench {
namespace {

double resident_bytes() {
  long pages = 0;
  std::ifstream file("/proc/self/statm");
  file >> pages >> pages;
  return static_cast<double>(pages * ::sysconf(_SC_PAGESIZE));
}

task<> take(const lock& target, std::vector<lease>& held) {
  held.push_back(co_await target.async_acquire());
}

void take_all(const std::vector<lock>& locks, std::vector<lease>& held) {
  constexpr std::size_t at_a_time = 1000;
  for (std::size_t first = 0; first < locks.size(); first += at_a_time) {
    std::vector<task<>> some;
    const auto end = std::min(locks.size(), first + at_a_time);
    for (std::size_t i = first; i < end; ++i) some.push_back(take(locks[i], held));
    sync_wait(when_all(std::move(some)));
  }
}

}  // namespace

many_locks::many_locks(const client& redis, std::size_t count) {
  locks_.reserve(count);
  held_.reserve(count);
  (void)redis.mutex("bench").acquire();  // connected, buffers there
  const double before = resident_bytes();
  for (std::size_t i = 0; i < count; ++i) {
    locks_.push_back(redis.mutex("bench-" + std::to_string(i)));
  }
  take_all(locks_, held_);
  bytes_per_lock_ = (resident_bytes() - before) / static_cast<double>(count);
}

double many_locks::lost() const {
  return static_cast<double>(
      std::ranges::count_if(held_, [](const lease& l) { return !l.held(); }));
}

}  // namespace holdfast::bench
