// A lock that is kept by who had it last: what it costs him to have it again, and others to get it.
#include <utility>
#include <vector>

#include <holdfast/client.hpp>

#include "net/clock.hpp"
#include "support/measure.hpp"
#include "support/ping.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

double since_ns(monotonic_time begin) {
  return static_cast<double>(nanoseconds(net::now() - begin).count());
}

}  // namespace

void retained(const setting& with) {
  auto& results = with.results;
  const client own(with.redis.url()), other(with.redis.url());
  const auto kept = own.mutex("kept", {.retain = std::chrono::seconds(10)});
  std::vector<double> pair;
  for (int round = 0; round < 200; ++round) {
    (void)kept.acquire();
    const auto begin = net::now();
    for (int i = 0; i < 1000; ++i) (void)kept.acquire();
    pair.push_back(since_ns(begin) / 1000);
  }
  results.at_most("retained.pair", median(std::move(pair)), "ns", 200);
  const double ping = ping_p50(with);
  constexpr int rounds = 50;
  const double before = calls_of(with.redis.port(), "evalsha");
  std::vector<double> foreign;
  for (int i = 0; i < rounds; ++i) {
    (void)kept.acquire();
    const auto begin = net::now();
    auto got = other.mutex("kept").acquire();
    foreign.push_back(since_ns(begin) / 1000);
    got.release().value();
  }
  // Each asks once and gives back once: two trips to be served, whatever a script takes.
  results.at_most("retained.foreign_commands_per_round",
                  (calls_of(with.redis.port(), "evalsha") - before) / rounds, "commands", 4.1);
  // Its own question takes a trip too.
  results.at_most("retained.foreign_waiter_vs_ping", median(std::move(foreign)) / ping, "x", 3);
}

}  // namespace holdfast::bench
