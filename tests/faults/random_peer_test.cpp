// The peer answers by chance: true answers, false ones, too many, too few, with lengths that lie,
// in any order, byte by byte. Every call ends within the bound that is documented for it, and so
// does the client.
//
// HOLDFAST_PEER_SEEDS=FROM-TO tries others; a failure names its seed.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/inspector.hpp>
#include <holdfast/quorum.hpp>
#include <holdfast/quorum_inspector.hpp>

#include "faults/faulty_server.hpp"
#include "net/clock.hpp"
#include "support/fake_server.hpp"

namespace holdfast::faults {
namespace {

using reply = support::fake_server::reply;

constexpr std::chrono::milliseconds margin = 2s;  // what a busy machine may take more
constexpr std::chrono::milliseconds timeout = 60ms;
constexpr std::chrono::milliseconds silence = 40ms;  // both time-outs of the client

// docs/guarantees.md: what waits takes its time-out and response_timeout, what asks takes
// connect_timeout and twice response_timeout, each round trip of an inspector takes both.
constexpr auto waiting = timeout + silence;
constexpr auto asking = 3 * silence;
constexpr auto trip = 2 * silence;

class chance {
 public:
  explicit chance(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return random_() % n; }
  bool is_one_in(std::size_t n) { return below(n) == 0; }
  template <typename T>
  const T& of(const std::vector<T>& all) {
    return all[below(all.size())];
  }

 private:
  std::mt19937_64 random_;
};

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

class chance_peer {
 public:
  explicit chance_peer(std::uint64_t seed) : random_(seed), misbehaves_(1 + random_.below(8)) {}

  std::optional<reply> operator()(const std::vector<std::string>& command) {
    const auto& name = command.front();
    const bool logs_in = name == "HELLO" || name == "TIME" || name == "SELECT" || name == "CLIENT";
    if (!random_.is_one_in(misbehaves_ + 1)) {
      if (logs_in) return std::nullopt;
      if (name == "SUBSCRIBE")
        return reply{">3\r\n" + bulk("subscribe") + bulk(command[1]) + ":1\r\n"};
      return reply{plausible(0)};
    }
    return misbehaviour();
  }

 private:
  // What some script might answer, with numbers from all ends of their range.
  std::string plausible(int depth) {
    static const std::vector<std::string> numbers = {":0\r\n",
                                                     ":1\r\n",
                                                     ":2\r\n",
                                                     ":4096\r\n",
                                                     ":4097\r\n",
                                                     ":-1\r\n",
                                                     ":1000\r\n",
                                                     ":30000\r\n",
                                                     ":1700000000000\r\n",
                                                     ":9223372036854775807\r\n",
                                                     ":-9223372036854775808\r\n"};
    static const std::vector<std::string> texts = {"",
                                                   "0",
                                                   "1",
                                                   "x",
                                                   "mine",
                                                   "busy",
                                                   "1:2:3",
                                                   "99999999999999999999",
                                                   "-1",
                                                   "e",
                                                   std::string(300, 'y'),
                                                   std::string("\0\r\n", 3)};
    switch (random_.below(depth < 3 ? 7 : 5)) {
      case 0:
      case 1:
        return random_.of(numbers);
      case 2:
        return bulk(random_.of(texts));
      case 3:
        return random_.is_one_in(2) ? "_\r\n" : "$-1\r\n";
      case 4:
        return "+OK\r\n";
      default:
        break;
    }
    const auto items = random_.below(6);
    std::string all = "*" + std::to_string(items) + "\r\n";
    for (std::size_t i = 0; i < items; ++i) all += plausible(depth + 1);
    return all;
  }

  std::string push() {
    static const std::vector<std::string> kinds = {"message",   "smessage",    "invalidate",
                                                   "subscribe", "unsubscribe", "x"};
    return ">3\r\n" + bulk(random_.of(kinds)) + bulk("hf:c:x") + plausible(1);
  }

  std::string error() {
    static const std::vector<std::string> all = {"ERR no",
                                                 "NOSCRIPT none",
                                                 "MOVED 1 127.0.0.1:1",
                                                 "ASK 1 :1",
                                                 "LOADING x",
                                                 "READONLY x",
                                                 "BUSY x",
                                                 "NOPERM x",
                                                 "WRONGPASS x",
                                                 "CLUSTERDOWN x",
                                                 ""};
    return "-" + random_.of(all) + "\r\n";
  }

  // A length or two is another, or any bytes are.
  std::string spoilt(std::string bytes) {
    for (auto left = 1 + random_.below(3); left > 0 && !bytes.empty(); --left) {
      const auto at = random_.below(bytes.size());
      static const std::string letters = "\r\n0123456789-:$*%~>|_x";
      if (random_.is_one_in(3))
        bytes.erase(at, 1 + random_.below(4));
      else if (random_.is_one_in(2))
        bytes.insert(at, 1, letters[random_.below(letters.size())]);
      else
        bytes[at] = letters[random_.below(letters.size())];
    }
    return bytes;
  }

  reply misbehaviour() {
    using then = support::fake_server::then;
    static const std::vector<std::string> lies = {
        "$1000\r\nx\r\n",     "$536870912\r\n", "*1000\r\n:1\r\n",
        "*9999999\r\n:1\r\n", "*-5\r\n",        "$99999999999999999999\r\n",
        "%3\r\n:1\r\n",       "|1\r\n:1\r\n",   "*1\r\n*1\r\n*1\r\n*1\r\n"};
    static const std::vector<std::string> again = {
        ":1\r\n", "+OK\r\n", "|1\r\n:1\r\n:2\r\n", ">2\r\n+message\r\n+x\r\n", "*1\r\n", "x"};
    switch (random_.below(11)) {
      case 0:
        return {};  // nothing
      case 1:
        return {{}, then::close};
      case 2:
        return {plausible(0), then::reset};
      case 3:
        return {plausible(0) + plausible(0)};
      case 4:
        return {push() + plausible(0) + push()};
      case 5:
        return {random_.of(lies)};
      case 6:
        return {random_.of(lies), then::stay, random_.of(again)};
      case 7:
        return {plausible(0), then::stay, random_.of(again)};
      case 8:
        return {error()};
      case 9:
        return {push()};
      default:
        return {spoilt(plausible(0))};
    }
  }

  chance random_;
  std::size_t misbehaves_;
};

client_options hasty() {
  client_options options;
  options.connect_timeout = silence;
  options.response_timeout = silence;
  options.default_timeout = timeout;
  return options;
}

// One call after another at peers that have this seed.
class caller {
 public:
  explicit caller(std::uint64_t seed) : seed_(seed) {}

  template <typename Action>
  void expect_end(const char* what, std::chrono::milliseconds bound, Action&& action) const {
    const auto from = net::now();
    try {
      action();
    } catch (const failure& refused) {
      EXPECT_NE(refused.reason(), errc{}) << refused.what();
    }
    EXPECT_LT(net::now() - from, bound + margin) << what << ", seed " << seed_;
  }

  // A lease, if it comes to one, is extended and released as well.
  void use(const char* what, const lock& wanted) const {
    std::optional<result<lease>> got;
    expect_end(what, waiting, [&] { got.emplace(wanted.try_acquire({.timeout = timeout})); });
    if (!got || !*got) return;
    lease& held = **got;
    expect_end(what, trip, [&] { (void)held.extend(20s); });
    expect_end(what, silence, [&] { (void)held.release(); });
  }

 private:
  const std::uint64_t seed_;
};

std::unique_ptr<support::fake_server> peer_of(std::uint64_t seed) {
  auto peer = std::make_unique<support::fake_server>(
      [chance = std::make_shared<chance_peer>(seed)](const auto& command) {
        return (*chance)(command);
      });
  if (seed % 4 == 0) peer->dribble();
  return peer;
}

task<result<lease>> ask(lock wanted) {
  co_return co_await wanted.async_try_acquire({.timeout = timeout});
}

void use_locks(const caller& it, const client& redis) {
  it.use("mutex", redis.mutex("a"));
  it.use("fair mutex", redis.mutex("a2", {.fair = true}));
  it.use("writer", redis.read_write_lock("b").exclusive());
  it.use("reader", redis.read_write_lock("b").shared());
  it.use("semaphore", redis.semaphore("s", {.permits = 2}));
  it.use("mode", redis.mode_lock("m").in(lock_mode::exclusive));
  it.use("all of", all_of({redis.mutex("x"), redis.mutex("y")}));
  it.use("dialect", redis.mutex("z", {}, dialect::redisson()));
  it.use("election", redis.election("e"));
  it.expect_end("once", trip, [&] { (void)redis.mutex("once").try_acquire(); });
  it.expect_end("coroutine", waiting + silence, [&] { (void)sync_wait(ask(redis.mutex("co"))); });
  it.expect_end("latch wait", waiting,
                [&] { (void)redis.latch("d").try_wait({.timeout = timeout}); });
  it.expect_end("barrier", waiting,
                [&] { (void)redis.barrier("r", 2).try_arrive_and_wait({.timeout = timeout}); });
}

void use_values(const caller& it, const client& redis) {
  const fencing_token token{4096};
  const auto calls = redis.rate_limiter("l", {.rate = 100, .burst = 2});
  it.expect_end("add", asking, [&] { (void)redis.counter("c").add(1); });
  it.expect_end("get", asking, [&] { (void)redis.counter("c").get(); });
  it.expect_end("rate, now", asking, [&] { (void)calls.try_acquire(); });
  it.expect_end("rate", waiting, [&] { calls.acquire(1, {.timeout = timeout}); });
  it.expect_end("rate, stopped", silence, [&] {
    std::stop_source stop;
    const std::jthread stops([&] { stop.request_stop(); });
    calls.acquire(1, {.timeout = 1h}, stop.get_token());
  });
  it.expect_end("latch set", asking, [&] { (void)redis.latch("d").try_set(2); });
  it.expect_end("latch down", asking, [&] { (void)redis.latch("d").count_down(); });
  it.expect_end("latch count", asking, [&] { (void)redis.latch("d").count(); });
  it.expect_end("permits", asking, [&] { redis.semaphore("s").set_permits(3); });
  it.expect_end("ids", asking, [&] { (void)redis.id_generator("i").next(); });
  it.expect_end("fenced write", asking, [&] { (void)redis.fenced_set("f", "v", token); });
}

void inspect(const caller& it, const client& redis) {
  const inspector sees{redis};
  it.expect_end("leader", trip, [&] { (void)redis.election("e").leader(); });
  it.expect_end("status", 3 * trip, [&] { (void)sees.status("a"); });
  it.expect_end("its status", 3 * trip, [&] { (void)sees.status("a", dialect::redisson()); });
  it.expect_end("list", 20 * trip, [&] { (void)sees.list("*", {.most = 10}); });
  it.expect_end("list, stopped", 0ms, [&] {
    std::stop_source stop;
    const std::jthread stops([&] { stop.request_stop(); });
    (void)sees.list_all_dialects("*", {.stop = stop.get_token()});
  });
  it.expect_end("break", 2 * asking + 3 * trip, [&] { (void)sees.break_lock("a", "a test"); });
  it.expect_end("diagnose", 60 * trip, [&] { (void)sees.diagnose(); });
}

void meet(std::uint64_t seed) {
  const caller it(seed);
  const auto peer = peer_of(seed);
  std::optional<client> redis{std::in_place, peer->url(), hasty()};
  use_locks(it, *redis);
  use_values(it, *redis);
  inspect(it, *redis);
  it.expect_end("end", silence, [&] { redis.reset(); });
}

void meet_as_quorum(std::uint64_t seed) {
  const caller it(seed);
  std::vector<std::unique_ptr<support::fake_server>> peers;
  std::vector<client> members;
  for (std::uint64_t i = 0; i < 3; ++i) {
    peers.push_back(peer_of(3 * seed + i));
    members.emplace_back(peers.back()->url(), hasty());
  }
  const quorum_inspector sees{members};
  it.use("quorum", quorum{members}.mutex("q"));
  it.expect_end("its votes", 6 * trip, [&] { (void)sees.status("q"); });
  it.expect_end("ends", 3 * silence, [&] { members.clear(); });
}

std::pair<std::uint64_t, std::uint64_t> seeds() {
  const char* const wanted = std::getenv("HOLDFAST_PEER_SEEDS");
  if (wanted == nullptr) return {1, 24};
  char* rest = nullptr;
  const auto from = std::strtoull(wanted, &rest, 10);
  return {from, std::strtoull(rest + 1, nullptr, 10)};
}

TEST(RandomPeer, EndsNoCallLate) {
  const auto [from, to] = seeds();
  std::atomic<std::uint64_t> next = from;
  std::vector<std::jthread> all;
  for (int i = 0; i < 24; ++i) {
    all.emplace_back([&, last = to] {
      for (auto seed = next++; seed <= last; seed = next++) {
        meet(seed);
        meet_as_quorum(seed);
      }
    });
  }
}

}  // namespace
}  // namespace holdfast::faults
