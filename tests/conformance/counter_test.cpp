// Counters, from several threads and clients.
#include <set>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

using namespace std::string_literals;

class Counter : public mutex_test {
 protected:
  std::set<std::string> keys() const {
    std::set<std::string> all;
    for (const auto& key : server().command({"KEYS", "*"}).items) all.insert(key.text);
    return all;
  }
};
HOLDFAST_ON_EACH_SERVER(Counter);

TEST_P(Counter, BeginsAtZeroAndIsShared) {
  const auto stock = redis().counter("stock");
  EXPECT_EQ(stock.name(), "stock");
  EXPECT_EQ(stock.get(), 0);
  EXPECT_EQ(stock.add(5), 5);
  EXPECT_EQ(stock.add(), 6);
  EXPECT_EQ(another_client().counter("stock").get(), 6);
  stock.set(40);
  EXPECT_EQ(stock.add(-3), 37);
  EXPECT_EQ(redis().counter("other").get(), 0);
}

TEST_P(Counter, ChangesUnderAConditionOnly) {
  const auto stock = redis().counter("stock");
  stock.set(3);
  const auto taken = stock.subtract(2);
  EXPECT_TRUE(taken);
  EXPECT_EQ(taken.value, 1);
  const auto refused = stock.subtract(2);
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused.value, 1);
  EXPECT_TRUE(stock.subtract(2, -1));
  EXPECT_FALSE(stock.compare_and_set(0, 9));
  const auto swapped = stock.compare_and_set(-1, 9);
  EXPECT_TRUE(swapped);
  EXPECT_EQ(swapped.value, 9);
  EXPECT_EQ(stock.get(), 9);
}

TEST_P(Counter, UpdateRunsAtTheServer) {
  const auto stock = redis().counter("stock");
  const std::string capped = "return math.min(value + ARGV[1], tonumber(ARGV[2]))";
  EXPECT_EQ(stock.update(capped, {"60", "100"}), 60);
  EXPECT_EQ(stock.update(capped, {"60", "100"}), 100);
  server().command({"SCRIPT", "FLUSH"});
  EXPECT_EQ(stock.update("return value / 2"), 50);
  const auto why = thrown_by([&] { stock.update("error('too few')"); });
  EXPECT_EQ(why.reason(), errc::server_error);
  EXPECT_THAT(why.what(), ::testing::HasSubstr("too few"));
  EXPECT_EQ(stock.get(), 50);
}

TEST_P(Counter, EveryChangeOfManyThreadsCounts) {
  constexpr int threads = 8;
  constexpr int rounds = 200;
  const auto other = another_client();
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&, i] {
        const auto hits = (i % 2 == 0 ? redis() : other).counter("hits");
        for (int round = 0; round < rounds; ++round) hits.add();
      });
    }
  }
  EXPECT_EQ(redis().counter("hits").get(), threads * rounds);
}

TEST_P(Counter, StockIsNeverSoldTwice) {
  constexpr int stock = 500;
  redis().counter("stock").set(stock);
  std::atomic<int> sold{0};
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 8; ++i) {
      all.emplace_back([&] {
        while (redis().counter("stock").subtract(1)) ++sold;
      });
    }
  }
  EXPECT_EQ(sold, stock);
  EXPECT_EQ(redis().counter("stock").get(), 0);
}

TEST_P(Counter, EachCallCostsOneCommand) {
  const auto hits = redis().counter("hits");
  const auto all = [&] {
    hits.add();
    (void)hits.subtract(1);
    (void)hits.compare_and_set(0, 7);
    hits.set(1);
    hits.update("return value + 1");
    (void)hits.get();
  };
  all();  // connects; the server learns the scripts
  const auto scripts = called("evalsha");
  const auto texts = called("eval");
  constexpr int rounds = 20;
  for (int i = 0; i < rounds; ++i) all();
  EXPECT_EQ(called("evalsha") - scripts, rounds * 5);
  EXPECT_EQ(called("eval"), texts);
}

TEST_P(Counter, NothingIsLeftButTheNumber) {
  client_options options;
  options.connect_timeout = options.response_timeout = 300ms;
  const client quick{server().url(), options};
  quick.counter("kept").add(3);
  quick.counter("used up").add(3);
  EXPECT_TRUE(quick.counter("used up").subtract(3));
  quick.counter("doubled").update("return value * 2");
  EXPECT_TRUE(eventually([&] { return keys() == std::set{"hf:counter:{kept}"s}; }))
      << ::testing::PrintToString(keys());
}

TEST_P(Counter, NamesAreThoseOfLocksAndDoNotMeetThem) {
  const std::vector<std::string> names{"a", "{a}", "a}", "%", "a b\r\n\0"s, std::string(512, 'x')};
  for (const auto& name : names) {
    const auto held = redis().mutex(name).acquire();
    EXPECT_EQ(redis().counter(name).add(1), 1) << name;
  }
  for (const auto& name : names) EXPECT_EQ(redis().counter(name).get(), 1) << name;
  EXPECT_EQ(inspector{redis()}.list().locks.size(), 0U) << "counters are no locks";
  for (const auto& name : {""s, std::string(513, 'x')}) {
    EXPECT_EQ(thrown_by([&] { (void)redis().counter(name); }).reason(), errc::invalid_name);
  }
}

TEST_P(Counter, BadInputIsRefused) {
  const auto stock = redis().counter("stock");
  EXPECT_EQ(thrown_by([&] { (void)stock.subtract(-1); }).reason(), errc::invalid_argument);
  stock.set(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(thrown_by([&] { stock.add(); }).reason(), errc::invalid_argument);
  EXPECT_EQ(thrown_by([&] { stock.update("this is not Lua"); }).reason(), errc::server_error);
  server().command({"SET", "hf:counter:{text}", "something else"});
  server().command({"RPUSH", "hf:counter:{list}", "1"});
  for (const auto& name : {"text"s, "list"s}) {
    const auto foreign = redis().counter(name);
    EXPECT_EQ(thrown_by([&] { (void)foreign.get(); }).reason(), errc::foreign_key);
    EXPECT_EQ(thrown_by([&] { foreign.add(); }).reason(), errc::foreign_key);
    EXPECT_EQ(thrown_by([&] { foreign.set(1); }).reason(), errc::foreign_key);
  }
}

TEST_P(Counter, AbsentServerIsReportedAtOnce) {
  const auto nowhere = client{"redis://127.0.0.1:1"}.counter("a");
  EXPECT_EQ(thrown_by([&] { nowhere.add(); }).reason(), errc::unavailable);
  EXPECT_EQ(thrown_by([&] { (void)nowhere.get(); }).reason(), errc::unavailable);
}

}  // namespace
}  // namespace holdfast::conformance
