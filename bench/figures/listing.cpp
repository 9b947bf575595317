// How long does a list of a thousand held locks take among five million keys of others, and how
// often do clients write the index that makes it so quick?
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/inspector.hpp>

#include "net/clock.hpp"
#include "support/measure.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

constexpr std::size_t held = 1'000;
constexpr int foreign = 5'000'000, at_a_time = 100'000;
constexpr milliseconds until_listed{30'000};
constexpr std::chrono::seconds written_for{12}, written_for_when_quick{3};

void fill(raw_client& socket) {
  for (int from = 0; from < foreign; from += at_a_time) {
    const auto first = std::to_string(from), last = std::to_string(from + at_a_time - 1);
    const auto script =
        "for i = " + first + ", " + last + " do redis.call('SET', 'foreign:' .. i, '') end";
    if (socket.ask({"EVAL", script, "0"}).is(resp::type::error)) {
      throw std::runtime_error("the server takes no keys");
    }
  }
}

// Holders write the index in the background.
void wait_until_listed(const inspector& looks) {
  const auto end = net::now() + until_listed;
  while (looks.list().locks.size() < held) {
    if (net::now() > end) throw std::runtime_error("the locks are not listed");
    std::this_thread::yield();
  }
}

template <typename Look>
double median_of(const setting& with, const Look& look) {
  std::vector<double> took;
  for (int round = 0; round < with.rounds(); ++round) {
    const auto before = net::now();
    look();
    took.push_back(std::chrono::duration<double>(net::now() - before).count());
  }
  return median(std::move(took));
}

// One client takes and releases a lock that nobody else wants. The index is then the only set that
// is written to. If a write costs the server as much as a pair, 200 of them cost 2 %.
double index_writes_in_10000_pairs(const setting& with) {
  const client redis(with.redis.url());
  const auto target = redis.mutex("bench");
  const auto before = calls_of(with.redis.port(), "zadd");
  const auto done = run_slice(1, with.quick ? written_for_when_quick : written_for,
                              [&](int) { target.acquire().release().value(); });
  return (calls_of(with.redis.port(), "zadd") - before) * 10'000 / done.pairs;
}

}  // namespace

void listing(const setting& with) {
  with.results.at_most("listing.index_writes_in_10000_pairs", index_writes_in_10000_pairs(with),
                       "writes", 200);
  raw_client socket(with.redis.port(), microseconds{0});
  fill(socket);
  {
    const client redis(with.redis.url());
    std::vector<lease> leases;
    for (std::size_t i = 0; i < held; ++i) {
      leases.push_back(redis.mutex("listed:" + std::to_string(i)).acquire());
    }
    const inspector looks(redis);
    wait_until_listed(looks);
    with.results.at_most("listing.all", median_of(with, [&] { (void)looks.list(); }), "s", 1);
    const auto one = [&] { (void)looks.list("listed:500"); };
    with.results.at_most("listing.one_name", median_of(with, one), "s", 0.05);
  }
  socket.ask({"FLUSHALL"});
}

}  // namespace holdfast::bench
