// 100,000 held locks all over a cluster: what do they cost, and is any lost?
#include <string>

#include <holdfast/client.hpp>

#include "net/clock.hpp"
#include "support/cluster.hpp"
#include "support/many_locks.hpp"
#include "support/measure.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {

void cluster_locks(const setting& with) {
  using std::chrono::seconds;
  constexpr std::size_t count = 100'000;
  constexpr seconds lease{30};
  const cluster servers(3);
  const client redis(servers.url(), {.default_lease = lease});
  const auto renewals = [&] {
    return servers.sum([](std::uint16_t port) { return calls_of(port, "evalsha"); });
  };
  const many_locks held(redis, count);
  wait_for(lease / 2);  // each has been renewed once, by its full script

  // Longer than a lease: a lease that was not renewed has ended.
  const auto begin = net::now();
  const auto client_before = own_processor_time();
  const auto server_before = servers.processor_time();
  const auto renewals_before = renewals();
  wait_for(lease + seconds(with.quick ? 2 : 10));
  const std::chrono::duration<double> took = net::now() - begin;
  const auto share = [&](nanoseconds used) {
    return 100 * std::chrono::duration<double>(used).count() / took.count();
  };
  const auto intervals = took / (lease / 3.0);
  auto& results = with.results;
  results.at_most("cluster_locks.client_processor", share(own_processor_time() - client_before),
                  "%", 5);
  results.at_most("cluster_locks.server_processor", share(servers.processor_time() - server_before),
                  "%", 20);
  results.at_most("cluster_locks.memory_per_lock", held.bytes_per_lock(), "bytes", 1200);
  // One for each hash slot; a run ends within an interval.
  results.at_most("cluster_locks.commands_per_interval", (renewals() - renewals_before) / intervals,
                  "commands", 1.1 * 16384);
  results.at_most("cluster_locks.lost", held.lost(), "locks", 0);
}

}  // namespace holdfast::bench
