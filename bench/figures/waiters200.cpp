// 200 clients that wait for one lock, and then get it one after the other.
#include <atomic>
#include <latch>
#include <optional>
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

using std::chrono::milliseconds;

std::int64_t now_ns() { return net::now().time_since_epoch().count(); }

// How often clients have called scripts or asked for a sign of life, the server says. It counts
// commands that scripts call, too. Clients send no others.
double sent_to(const server& redis) {
  double sum = 0;
  for (const auto* one : {"evalsha", "eval", "ping"}) sum += calls_of(redis.port(), one);
  return sum;
}

}  // namespace

void waiters200(const setting& with) {
  constexpr int count = 200;
  auto& results = with.results;
  const double ping = ping_p50(with);
  const client holder(with.redis.url());
  const auto held_lock = holder.mutex("waited for");
  auto held = std::make_optional(held_lock.acquire());
  std::vector<client> clients;
  for (int i = 0; i < count; ++i) clients.emplace_back(with.redis.url());
  std::atomic<std::int64_t> released{0}, last_return{0};
  std::vector<double> handed;  // of the holder
  std::latch all_served(count);
  std::vector<std::thread> waiting;
  handed.reserve(count);
  for (int i = 0; i < count; ++i) {
    waiting.emplace_back([&, i] {
      {
        auto mine = clients[static_cast<std::size_t>(i)].mutex("waited for").acquire();
        const auto at = now_ns();
        handed.push_back(static_cast<double>(at - released) / 1000);
        last_return = at;
        released = now_ns();
      }
      all_served.arrive_and_wait();  // to end a thread costs more than to hand over
    });
  }
  raw_client look(with.redis.port(), microseconds{0});
  while (look.command("*2\r\n$5\r\nZCARD\r\n$17\r\nhf:{waited for}:w\r\n").number < count) {
    wait_for(milliseconds(10));
  }
  const auto before = sent_to(with.redis);
  const int seconds = with.quick ? 6 : 30;
  wait_for(std::chrono::seconds(seconds));
  results.at_most("waiters200.commands_while_held", (sent_to(with.redis) - before) / seconds, "/s",
                  20);
  const auto begin = now_ns();
  released = begin;
  held.reset();
  for (auto& one : waiting) one.join();
  results.at_most("waiters200.all_served", static_cast<double>(last_return - begin) / 1e6, "ms",
                  20);
  results.at_most("waiters200.handover_vs_ping", median(std::move(handed)) / ping, "x", 1.5);
}

}  // namespace holdfast::bench
