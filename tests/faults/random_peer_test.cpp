// Whoever answers does what chance says: true answers, false ones, too many, too few, with lengths
// that lie, in any order, byte by byte. Every call ends in time, and so does the client.
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

#include "faults/faulty_server.hpp"
#include "net/clock.hpp"
#include "support/fake_server.hpp"

namespace holdfast::faults {
namespace {

using reply = support::fake_server::reply;

constexpr auto soon = 10s;  // far less than "for ever", and far more than a busy machine needs

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

template <typename Action>
void expect_an_end(std::uint64_t seed, const char* what, Action&& action) {
  const auto from = net::now();
  try {
    action();
  } catch (const failure& refused) {
    EXPECT_NE(refused.reason(), errc{}) << refused.what();
  }
  EXPECT_LT(net::now() - from, soon) << what << ", seed " << seed;
}

client_options hasty() {
  client_options options;
  options.connect_timeout = 40ms;
  options.response_timeout = 40ms;
  return options;
}

void use(const lock& wanted) {
  auto held = wanted.try_acquire({.timeout = 60ms});
  if (!held) return;
  (void)held->extend(20s);
  (void)held->release();
}

void meet(std::uint64_t seed) {
  support::fake_server peer([chance = std::make_shared<chance_peer>(seed)](const auto& command) {
    return (*chance)(command);
  });
  if (seed % 4 == 0) peer.dribble();
  std::optional<client> redis{std::in_place, peer.url(), hasty()};
  expect_an_end(seed, "mutex", [&] { use(redis->mutex("a")); });
  expect_an_end(seed, "writer", [&] { use(redis->rw("b").exclusive()); });
  expect_an_end(seed, "reader", [&] { use(redis->rw("b").shared()); });
  expect_an_end(seed, "counter", [&] { (void)redis->counter("c").add(1); });
  expect_an_end(seed, "latch", [&] { (void)redis->latch("d").count(); });
  expect_an_end(seed, "status", [&] { (void)inspector{*redis}.status("a"); });
  expect_an_end(seed, "list", [&] { (void)inspector{*redis}.list("*", {.most = 10}); });
  expect_an_end(seed, "end", [&] { redis.reset(); });
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
  for (int i = 0; i < 12; ++i) {
    all.emplace_back([&, last = to] {
      for (auto seed = next++; seed <= last; seed = next++) meet(seed);
    });
  }
}

}  // namespace
}  // namespace holdfast::faults
