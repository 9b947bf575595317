// The three lines of docs/choosing.md for each kind of lock. The order of the questions is its own.
#include <chrono>
#include <cstdint>
#include <iostream>
#include <stop_token>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

namespace {

using namespace std::chrono_literals;

int steps = 0;
void work(holdfast::fencing_token /*token*/ = {}) { ++steps; }
void lead(const std::stop_token& stop) { steps += stop.stop_requested() ? 0 : 1; }
bool migrate(int /*version*/) { return ++steps > 0; }

void one_at_a_time(const holdfast::client& redis) {
  // [snippet mutex]
  const auto nightly = redis.mutex("nightly");
  auto lease = nightly.acquire();  // waits, or throws
  work(lease.token());             // the resource refuses a token below one that it has seen
  // [snippet end]
}

void readers(const holdfast::client& redis) {
  // [snippet readers]
  const auto prices = redis.read_write_lock("prices");
  { auto reading = prices.shared().acquire(); }     // any number at a time
  { auto writing = prices.exclusive().acquire(); }  // or this one alone
  // [snippet end]
}

void permits(const holdfast::client& redis) {
  // [snippet permits]
  const auto licences = redis.semaphore("licences", {.permits = 4});
  auto one = licences.acquire();
  auto two_more = licences.permits(2).acquire();  // both, or it waits
  // [snippet end]
}

void several(const holdfast::client& redis) {
  // [snippet several]
  const auto both = holdfast::all_of({redis.mutex("account:1"), redis.mutex("account:2")});
  auto lease = both.acquire();  // no deadlock, in whatever order they are named
  work();
  // [snippet end]
}

void leader(const holdfast::client& redis) {
  // [snippet leader]
  const auto scheduler = redis.election("scheduler");
  auto leads = scheduler.campaign({.timeout = holdfast::forever});
  lead(leads.lost());  // a std::stop_token: stop when it fires
  // [snippet end]
}

void once_per_release(const holdfast::client& redis) {
  // [snippet release]
  const auto schema = redis.counter("schema");  // which version has been reached
  auto lease = redis.mutex("migrate").acquire();
  if (schema.get() < 42 && migrate(42)) schema.set(42);
  // [snippet end]
}

void waits_for_others(const holdfast::client& redis) {
  if (!redis.latch("ready").try_set(1)) return;
  // [snippet wait]
  const auto ready = redis.latch("ready");  // set by one of them: try_set(3)
  ready.count_down();                       // each part, when it is ready
  ready.wait();                             // goes on when all three have counted
  // [snippet end]
}

std::int64_t values(const holdfast::client& redis) {
  // [snippet values]
  const auto left = redis.counter("tickets").subtract(1);  // never below zero
  redis.rate_limiter("geocoder", {.rate = 20, .burst = 5}).acquire();
  const auto id = redis.id_generator("orders").next();
  // [snippet end]
  return id + (left ? 1 : 0);
}

void survives(const holdfast::client& a, const holdfast::client& b, const holdfast::client& c) {
  // [snippet quorum]
  const holdfast::quorum nodes{{a, b, c}};  // three servers that know nothing of each other
  auto lease = nodes.mutex("nightly").acquire();
  work(lease.token());
  // [snippet end]
}

void shared_with_java(const holdfast::client& redis) {
  // [snippet dialect]
  const auto orders = redis.mutex("java-orders", {}, holdfast::dialect::redisson());
  auto lease = orders.acquire();  // excludes redisson.getLock("java-orders")
  work();                         // no token: Redisson's RLock has no place for one
  // [snippet end]
}

}  // namespace

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  one_at_a_time(redis);
  readers(redis);
  permits(redis);
  several(redis);
  leader(redis);
  once_per_release(redis);
  waits_for_others(redis);
  const auto id = values(redis);
  survives(redis, holdfast::client{"embedded:"}, holdfast::client{"embedded:"});
  shared_with_java(redis);
  std::cout << steps << " steps, id " << id << '\n';
}
