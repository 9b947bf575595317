// A retained lock: what does it cost its client to have it again, and others to get it?
#include <thread>
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

// Microseconds from when the owner comes out until another process' waiter is in, who has asked
// before: the owner knows that another client waits, and the waiter sleeps.
double handed_out(const setting& with, const lock& kept, const lock& wanted) {
  auto held = kept.acquire();
  monotonic_time served;
  std::thread waiter([&] {
    auto got = wanted.acquire();
    served = net::now();
    got.release().value();
  });
  raw_client look(with.redis.port(), microseconds{0});
  while (look.ask({"ZCARD", "hf:{kept}:w"}).number < 1) wait_for(std::chrono::milliseconds(1));
  wait_for(std::chrono::milliseconds(2));
  const auto begin = net::now();
  held.release().value();
  waiter.join();
  return static_cast<double>(nanoseconds(served - begin).count()) / 1000;
}

// The same when nobody is inside: from the waiter's question on.
double called_in(const lock& kept, const lock& wanted) {
  (void)kept.acquire();
  const auto begin = net::now();
  auto got = wanted.acquire();
  const double took = since_ns(begin) / 1000;
  got.release().value();
  return took;
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
  const auto wanted = other.mutex("kept");
  std::vector<double> out, in;
  for (int i = 0; i < rounds; ++i) {
    out.push_back(handed_out(with, kept, wanted));
    in.push_back(called_in(kept, wanted));
  }
  // Each asks once and gives back once: two trips to be served, whatever a script takes.
  results.at_most("retained.foreign_commands_per_round",
                  (calls_of(with.redis.port(), "evalsha") - before) / (2 * rounds), "commands",
                  4.1);
  // After the critical section the release and the waiter's message make one trip. Another is for
  // the owner who hears only then that somebody wants the lock, and comes on top here as what it
  // takes to run a script and to wake a program.
  results.at_most("retained.foreign_waiter_vs_ping", median(std::move(out)) / ping, "x", 2);
  results.tell("retained.foreign_waiter_of_unused_vs_ping", median(std::move(in)) / ping, "x");
}

}  // namespace holdfast::bench
