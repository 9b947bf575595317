// 100,000 held locks: what do they cost while nothing happens?
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/task.hpp>

#include "net/clock.hpp"
#include "support/measure.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"

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
    for (std::size_t i = first; i < first + at_a_time; ++i) some.push_back(take(locks[i], held));
    sync_wait(when_all(std::move(some)));
  }
}

}  // namespace

void renewal_load(const setting& with) {
  constexpr std::size_t count = 100'000;
  const holdfast::client client(with.redis.url(), {.default_lease = std::chrono::seconds(30)});
  std::vector<lock> locks;
  std::vector<lease> held;
  locks.reserve(count);
  held.reserve(count);
  (void)client.mutex("bench").acquire();  // connected, buffers there
  const auto server_bytes = [&] { return std::stod(info(with.redis.port(), "used_memory")); };
  const double before = resident_bytes(), server_bytes_before = server_bytes();
  for (std::size_t i = 0; i < count; ++i) {
    locks.push_back(client.mutex("bench-" + std::to_string(i)));
  }
  take_all(locks, held);
  const double memory = (resident_bytes() - before) / static_cast<double>(count);
  const double server_memory = (server_bytes() - server_bytes_before) / static_cast<double>(count);

  // A renewal comes after a third of the lease: in 10 s each lock is renewed once.
  const auto begin = net::now();
  const auto client_before = own_processor_time();
  const auto server_before = with.redis.processor_time();
  wait_for(std::chrono::seconds(with.quick ? 10 : 20));
  const std::chrono::duration<double> took = net::now() - begin;
  const auto share = [&](nanoseconds used) {
    return 100 * std::chrono::duration<double>(used).count() / took.count();
  };
  auto& results = with.results;
  results.at_most("renewal_load.client_processor", share(own_processor_time() - client_before), "%",
                  2);
  results.at_most("renewal_load.server_processor",
                  share(with.redis.processor_time() - server_before), "%", 5);
  results.at_most("renewal_load.memory_per_lock", memory, "bytes", 1024);
  results.tell("renewal_load.server_memory_per_lock", server_memory, "bytes");
  results.at_most(
      "renewal_load.lost",
      static_cast<double>(std::ranges::count_if(held, [](const lease& l) { return !l.held(); })),
      "locks", 0);
}

}  // namespace holdfast::bench
