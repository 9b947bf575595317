// 64 threads, a lock each: what does sharing one connection gain over a connection per thread?
#include <deque>
#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "redis/dialects/catalog.hpp"
#include "support/measure.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {

namespace {

constexpr int threads = 64;

std::vector<slice> run(const setting& with, std::deque<raw_client>& sockets,
                       const std::vector<lock_key>& keys, const std::vector<lock>& locks) {
  const auto& recipe = dialects::native_mutex(fencing::on);
  const auto in_threads = [&](const auto& pair) {
    return [&with, pair] {
      return run_slice(threads, with.slice(), [&](int i) { pair(static_cast<std::size_t>(i)); });
    };
  };
  return run_by_turns(
      with.redis, with.rounds(),
      {in_threads([&](std::size_t self) { sockets[self].pair(recipe, keys[self]); }),
       in_threads([&](std::size_t self) { locks[self].acquire().release().value(); })});
}

}  // namespace

void threads64(const setting& with) {
  const holdfast::client client(with.redis.url());
  std::deque<raw_client> sockets;
  std::vector<lock_key> keys;
  std::vector<lock> locks;
  for (int i = 0; i < threads; ++i) {
    sockets.emplace_back(with.redis.port(), microseconds{0});
    keys.emplace_back("bench-" + std::to_string(i));
    locks.push_back(client.mutex("bench-" + std::to_string(i)));
  }
  with.on_each_placement("threads64", [&](placement, const std::string& prefix) {
    const auto figures = run(with, sockets, keys, locks);
    auto& results = with.results;
    results.at_least(prefix + "rate_vs_connection_per_thread", figures[1].rate / figures[0].rate,
                     "x", 1.5);
    results.at_most(prefix + "p99_vs_p50", figures[1].p99 / figures[1].p50, "x", 3);
    results.tell(prefix + "rate", figures[1].rate, "pairs/s");
    results.tell(prefix + "p50", figures[1].p50, "us");
    results.tell(prefix + "p99", figures[1].p99, "us");
    with.tell_processor(prefix, figures[1]);
    results.tell(prefix + "connection_per_thread_rate", figures[0].rate, "pairs/s");
    with.tell_processor(prefix + "connection_per_thread_", figures[0]);
  });
}

}  // namespace holdfast::bench
