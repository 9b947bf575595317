// The peer sends without end, too much, or byte by byte: every call ends in time, and so does the
// client.
#include <atomic>
#include <fstream>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <holdfast/inspector.hpp>

#include "faults/fake_sentinel.hpp"
#include "faults/faulty_server.hpp"
#include "net/clock.hpp"
#include "support/fake_server.hpp"

namespace holdfast::faults {
namespace {

using support::fake_server;

// The time that a busy machine may take beyond the documented bound.
constexpr std::chrono::milliseconds margin = 2s;
constexpr std::chrono::milliseconds timeout = 150ms;
constexpr std::chrono::milliseconds silence = 100ms;  // both time-outs of the client

client_options very_impatient() {
  client_options options;
  options.connect_timeout = silence;
  options.response_timeout = silence;
  return options;
}

const std::string message = ">3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$1\r\ny\r\n";

// Bytes that never become an answer.
const std::vector<std::pair<std::string, fake_server::reply>>& floods() {
  static const std::vector<std::pair<std::string, fake_server::reply>> all = {
      {"messages", fake_server::flood(message)},
      {"attributes", fake_server::flood("|1\r\n:1\r\n:2\r\n")},
      {"items", fake_server::flood(":1\r\n", "*900000\r\n")},
      {"lists", fake_server::flood("*0\r\n", "*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n")},
      {"strings", fake_server::flood("$100\r\n" + std::string(100, 'x') + "\r\n", "*900000\r\n")},
  };
  return all;
}

template <typename Action>
void expect_an_end(const std::string& of, std::chrono::milliseconds bound, Action&& action) {
  const auto from = net::now();
  action();
  EXPECT_LT(net::now() - from, bound + margin) << of;
}

// The call that `action` makes is stopped at once.
template <typename Action>
void expect_an_end_after_a_stop(const std::string& of, Action&& action) {
  expect_an_end(of, silence, [&] {
    std::stop_source enough;
    const std::jthread stopper([&] { enough.request_stop(); });
    action(enough.get_token());
  });
}

void expect_all_to_end(const std::string& url, const std::string& what) {
  std::optional<client> redis{std::in_place, url, very_impatient()};
  const auto calls = redis->rate_limiter("r", {.rate = 10, .burst = 2});
  expect_an_end(what, timeout + silence,
                [&] { EXPECT_FALSE(redis->mutex("a").try_acquire({.timeout = timeout})) << what; });
  expect_an_end_after_a_stop(what + ", stopped", [&](std::stop_token stop) {
    EXPECT_FALSE(redis->mutex("b").try_acquire({.timeout = 1h}, std::move(stop)));
  });
  expect_an_end(what + ", permits", timeout + silence,
                [&] { EXPECT_THROW(calls.acquire(1, {.timeout = timeout}), failure); });
  expect_an_end_after_a_stop(what + ", permits, stopped", [&](const std::stop_token& stop) {
    EXPECT_THROW(calls.acquire(1, {.timeout = 1h}, stop), failure);
  });
  expect_an_end(what + ", counter", 3 * silence,
                [&] { EXPECT_THROW((void)redis->counter("c").add(), failure); });
  expect_an_end_after_a_stop(what + ", list, stopped", [&](std::stop_token stop) {
    EXPECT_THROW((void)inspector{*redis}.list("*", {.stop = std::move(stop)}), failure);
  });
  expect_an_end(what + ", closed", silence, [&] { redis.reset(); });
}

// Each kind of it, at a peer of its own.
void flood_each(
    const std::function<void(const fake_server::reply& flood, const std::string& what)>& action) {
  std::vector<std::jthread> all;
  for (const auto& [name, flood] : floods()) {
    all.emplace_back([&, &name = name, &flood = flood] { action(flood, name); });
  }
}

fake_server::script flooding(const std::string& after, const fake_server::reply& flood) {
  return [&](const auto& command) -> std::optional<fake_server::reply> {
    if (command.front() == after) return flood;
    return std::nullopt;
  };
}

TEST(EndlessPeer, ThatFloodsWhoeverComesEndsNoDeadline) {
  flood_each([](const auto& flood, const auto& what) {
    fake_server peer;
    peer.greet(flood);
    expect_all_to_end(peer.url(), what);
  });
}

TEST(EndlessPeer, ThatFloodsInsteadOfAnAnswerEndsNoDeadline) {
  for (const std::string after : {"HELLO", "SUBSCRIBE", "EVALSHA"}) {
    flood_each([&](const auto& flood, const auto& what) {
      const fake_server peer(flooding(after, flood));
      expect_all_to_end(peer.url(), what + " after " + after);
    });
  }
}

TEST(EndlessPeer, ThatIsASentinelEndsNoDeadline) {
  for (const std::string after : {"HELLO", "SENTINEL"}) {
    flood_each([&](const auto& flood, const auto& what) {
      const fake_server peer(flooding(after, flood));
      expect_all_to_end("redis+sentinel://127.0.0.1:" + std::to_string(peer.port()) + "/locks",
                        what + " of a sentinel after " + after);
    });
  }
}

// A client that watches for a failover asks the next sentinel.
TEST(EndlessPeer, ThatIsASentinelIsNotWatchedForEver) {
  const fake_server master;
  const auto names = naming(master.port());
  std::atomic<int> asked = 0;
  const fake_server one([&](const auto& words) -> std::optional<fake_server::reply> {
    if (words.front() == "SENTINEL" && ++asked > 2) return fake_server::flood(message);
    return names(words);
  });
  const fake_server other(names);
  std::optional<client> redis{std::in_place,
                              "redis+sentinel://127.0.0.1:" + std::to_string(one.port()) +
                                  ",127.0.0.1:" + std::to_string(other.port()) + "/locks",
                              very_impatient()};
  const auto finds_the_master = [&] {
    (void)redis->mutex("a").try_acquire();  // in time, as a busy machine may not
    return master.received("EVALSHA") > 0;
  };
  EXPECT_TRUE(eventually(finds_the_master));
  EXPECT_TRUE(eventually([&] { return other.received("SENTINEL") > 0; }));
  expect_an_end("closed", silence, [&] { redis.reset(); });
}

#ifndef HOLDFAST_SANITIZED  // which keeps what was freed

std::ptrdiff_t in_status(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::stoll(line.substr(name.size() + 1)) * 1024;
  }
  return 0;
}

// The most memory that the process has had since this was made, beyond that at the time.
class peak_memory {
 public:
  peak_memory() { std::ofstream("/proc/self/clear_refs") << "5" << std::flush; }
  std::ptrdiff_t growth() const { return in_status("VmHWM") - before_; }

 private:
  const std::ptrdiff_t before_ = in_status("VmRSS");
};

// docs/guarantees.md. Some of it is for the fake server and the threads.
TEST(EndlessPeer, CostsNoMoreMemoryThanIsDocumented) {
  constexpr std::size_t mebibyte = 1024UL * 1024;
  const std::string megabyte = "$1048576\r\n" + std::string(mebibyte, 'x') + "\r\n";
  const std::vector<std::pair<std::string, fake_server::reply>> all = {
      {"as many items as may be", fake_server::flood(":1\r\n", "*800000\r\n")},
      {"as long strings as may be", fake_server::flood(megabyte, "*63\r\n")},
      {"one string", fake_server::flood(std::string(mebibyte, 'x'), "$67000000\r\n")},
      {"more items", fake_server::flood(":1\r\n", "*100000000\r\n")},
      {"more strings", fake_server::flood(megabyte, "*900\r\n")},
      {"a longer string", fake_server::flood(std::string(mebibyte, 'x'), "$536870912\r\n")},
      {"lists in lists", fake_server::flood(":1\r\n", "*800000\r\n*800000\r\n")},
      {"attributes", fake_server::flood("|1\r\n:1\r\n:2\r\n")}};
  for (const auto& [name, flood] : all) {
    fake_server peer;
    peer.greet(flood);
    const client redis{peer.url(), patient()};
    const peak_memory used;
    EXPECT_FALSE(redis.mutex("a").try_acquire()) << name;
    EXPECT_LT(used.growth(), std::ptrdiff_t{144 * mebibyte}) << name;
  }
}

#endif

}  // namespace
}  // namespace holdfast::faults
