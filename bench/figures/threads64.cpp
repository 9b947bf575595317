// 64 threads, a lock each: what does sharing one connection gain over a connection per thread?
#include <deque>
#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "dialects/catalog.hpp"
#include "support/measure.hpp"
#include "support/raw_client.hpp"
#include "support/report.hpp"

namespace holdfast::bench {

void threads64(const setting& with) {
  constexpr int threads = 64;
  const auto& recipe = dialects::native_mutex(fencing::on);
  const holdfast::client client(with.redis.url());
  std::deque<raw_client> sockets;
  std::vector<lock_key> keys;
  std::vector<lock> locks;
  for (int i = 0; i < threads; ++i) {
    sockets.emplace_back(with.redis.port(), microseconds{0});
    keys.emplace_back("bench-" + std::to_string(i));
    locks.push_back(client.mutex("bench-" + std::to_string(i)));
  }
  const auto figures = run_by_turns(
      with.rounds(), {[&] {
                        return run_slice(threads, with.slice(), [&](int i) {
                          const auto self = static_cast<std::size_t>(i);
                          sockets[self].pair(recipe, keys[self]);
                        });
                      },
                      [&] {
                        return run_slice(threads, with.slice(), [&](int i) {
                          locks[static_cast<std::size_t>(i)].acquire().release().value();
                        });
                      }});
  auto& results = with.results;
  results.at_least("threads64.rate_vs_connection_per_thread", figures[1].rate / figures[0].rate,
                   "x", 1.5);
  results.at_most("threads64.p99_vs_p50", figures[1].p99 / figures[1].p50, "x", 3);
  results.tell("threads64.rate", figures[1].rate, "pairs/s");
  results.tell("threads64.p50", figures[1].p50, "us");
  results.tell("threads64.processor_per_pair", figures[1].processor, "us");
  results.tell("threads64.connection_per_thread_rate", figures[0].rate, "pairs/s");
}

}  // namespace holdfast::bench
