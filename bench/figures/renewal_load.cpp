// 100,000 held locks: what do they cost while nothing happens?
#include <string>

#include <holdfast/client.hpp>

#include "net/clock.hpp"
#include "support/many_locks.hpp"
#include "support/measure.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {

void renewal_load(const setting& with) {
  constexpr std::size_t count = 100'000;
  const holdfast::client client(with.redis.url(), {.default_lease = std::chrono::seconds(30)});
  (void)client.mutex("bench").acquire();
  const auto server_bytes = [&] { return std::stod(info(with.redis.port(), "used_memory")); };
  const double server_bytes_before = server_bytes();
  const many_locks held(client, count);
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
  results.at_most("renewal_load.memory_per_lock", held.bytes_per_lock(), "bytes", 1024);
  results.tell("renewal_load.server_memory_per_lock", server_memory, "bytes");
  results.at_most("renewal_load.lost", held.lost(), "locks", 0);
}

}  // namespace holdfast::bench
