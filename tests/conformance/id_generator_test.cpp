// Ids: nobody gets one twice, and the order that is promised.
#include <algorithm>
#include <set>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/clock_shim.hpp"
#include "support/forked.hpp"

namespace holdfast::conformance {
namespace {

using namespace std::string_literals;

class Ids : public mutex_test {
 protected:
  // Every id that many threads get; `make(client)` gives each its generator, of two clients in
  // turn.
  template <typename Make>
  std::vector<std::int64_t> ids_of_many(int threads, int each, Make&& make) const {
    std::vector<std::vector<std::int64_t>> got(static_cast<std::size_t>(threads));
    const auto other = another_client();
    {
      std::vector<std::jthread> all;
      for (std::size_t i = 0; i < got.size(); ++i) {
        all.emplace_back([&, i] {
          const auto ids = make(i % 2 == 0 ? redis() : other);
          for (int round = 0; round < each; ++round) got[i].push_back(ids.next());
        });
      }
    }
    std::vector<std::int64_t> together;
    for (const auto& one : got) {
      EXPECT_TRUE(std::ranges::is_sorted(one)) << "those of one generator grow";
      together.insert(together.end(), one.begin(), one.end());
    }
    std::ranges::sort(together);
    EXPECT_EQ(std::ranges::adjacent_find(together), together.end()) << "one came twice";
    return together;
  }
};
HOLDFAST_ON_EACH_SERVER(Ids);

TEST_P(Ids, CountFromOne) {
  const auto orders = redis().id_generator("orders", {.block = 3});
  EXPECT_EQ(orders.name(), "orders");
  for (std::int64_t i = 1; i <= 10; ++i) EXPECT_EQ(orders.next(), i);
  EXPECT_EQ(another_client().id_generator("orders", {.block = 3}).next(), 13);
  const auto copy = orders;
  EXPECT_EQ(copy.next(), 11) << "copies share a block";
  EXPECT_EQ(redis().id_generator("others").next(), 1);
}

TEST_P(Ids, OfManyThreadsAreUnique) {
  const auto all =
      ids_of_many(6, 500, [](const client& of) { return of.id_generator("orders", {.block = 7}); });
  EXPECT_GE(all.front(), 1);
  EXPECT_LE(all.back(), 6 * 500 + 6 * 7) << "no more than a block is left over by each";
}

TEST_P(Ids, OneAtATimeGrowOverAllGenerators) {
  const auto a = redis().id_generator("orders", {.block = 1});
  const auto b = another_client().id_generator("orders", {.block = 1});
  std::int64_t last = 0;
  for (int i = 0; i < 50; ++i) {
    const auto next = (i % 3 == 0 ? a : b).next();
    EXPECT_GT(next, last);
    last = next;
  }
  EXPECT_EQ(last, 50);
}

TEST_P(Ids, GoOnWhenTheServerHasForgottenThem) {
  const auto orders = redis().id_generator("orders", {.block = 10});
  for (int i = 0; i < 25; ++i) (void)orders.next();
  server().command({"FLUSHALL"});
  for (std::int64_t i = 26; i <= 31; ++i) EXPECT_EQ(orders.next(), i);
  EXPECT_EQ(another_client().id_generator("orders", {.block = 10}).next(), 41);
}

TEST_P(Ids, OneCommandForEachBlock) {
  const auto orders = redis().id_generator("orders", {.block = 50});
  (void)orders.next();
  const auto scripts = called("evalsha");
  for (int i = 0; i < 200; ++i) (void)orders.next();
  EXPECT_EQ(called("evalsha") - scripts, 4);
}

TEST_P(Ids, BadInputIsRefused) {
  const auto reason = [&](auto&& act) { return thrown_by(act).reason(); };
  for (const std::uint32_t block : {0U, 1'000'000'001U}) {
    EXPECT_EQ(reason([&] { (void)redis().id_generator("a", {.block = block}); }),
              errc::invalid_argument);
  }
  EXPECT_EQ(reason([&] { (void)redis().id_generator(""); }), errc::invalid_name);
  server().command({"SET", "hf:ids:{a}", "text"});
  EXPECT_EQ(reason([&] { (void)redis().id_generator("a").next(); }), errc::foreign_key);
  server().command({"SET", "hf:ids:{a}", "9223372036854775807"});
  EXPECT_EQ(reason([&] { (void)redis().id_generator("a").next(); }), errc::invalid_argument);
  server().command({"SET", "hf:ids:{a}", "-5"});
  EXPECT_EQ(redis().id_generator("a").next(), 1);
}

class Snowflake : public Ids {};
HOLDFAST_ON_EACH_SERVER(Snowflake);

constexpr std::int64_t epoch = 1'577'836'800'000;
std::int64_t ms_of(std::int64_t id) { return (id >> 22) + epoch; }
std::int64_t machine_of(std::int64_t id) { return id >> 12 & 1023; }

TEST_P(Snowflake, IdsTellTimeAndMachine) {
  const auto ids = redis().snowflake("orders");
  EXPECT_EQ(ids.name(), "orders");
  EXPECT_LT(ids.machine(), 1024U);
  const auto time = server().command({"TIME"}).items;
  const auto before = std::stoll(time[0].text) * 1000;
  const auto id = ids.next();
  EXPECT_GT(id, 0);
  EXPECT_EQ(machine_of(id), ids.machine());
  EXPECT_GT(ms_of(id), before - 2000);
  EXPECT_LT(ms_of(id), before + 20'000);
}

TEST_P(Snowflake, OfManyThreadsAreUnique) {
  (void)ids_of_many(6, 20'000, [](const client& of) { return of.snowflake("orders"); });
}

TEST_P(Snowflake, OneGeneratorServesManyThreads) {
  const auto shared = redis().snowflake("orders");
  (void)ids_of_many(4, 20'000, [&](const client&) { return shared; });
}

TEST_P(Snowflake, EachNumberBelongsToOneAtATime) {
  std::vector<snowflake_generator> all;
  std::set<std::uint32_t> numbers;
  for (int i = 0; i < 4; ++i) {
    all.push_back((i % 2 == 0 ? redis() : another_client()).snowflake("orders", {.machines = 4}));
    numbers.insert(all.back().machine());
  }
  EXPECT_EQ(numbers.size(), 4U);
  EXPECT_EQ(thrown_by([&] { (void)redis().snowflake("orders", {.machines = 4}); }).reason(),
            errc::busy);
  const auto last = all[1].next();
  const auto number = all[1].machine();
  all.erase(all.begin() + 1);
  EXPECT_TRUE(eventually([&] {
    return server()
               .command({"EXISTS", "hf:{orders:machine:" + std::to_string(number) + "}"})
               .number == 0;
  }));
  const auto next = redis().snowflake("orders", {.machines = 4});
  EXPECT_EQ(next.machine(), number);
  EXPECT_GT(ms_of(next.next()), ms_of(last)) << "it begins after the one before";
}

TEST_P(Snowflake, RefusesOnceTheNumberIsLost) {
  client_options options;
  options.default_lease = 300ms;
  const client own{server().url(), options};
  const auto ids = own.snowflake("orders", {.machines = 1});
  (void)ids.next();
  inspector{redis()}.break_lock("orders:machine:0", "a test");
  std::optional<errc> why;
  EXPECT_TRUE(eventually([&] {
    try {
      (void)ids.next();
    } catch (const failure& thrown) {
      why = thrown.reason();
    }
    return why.has_value();
  }));
  EXPECT_EQ(why, errc::lost);
  EXPECT_EQ(thrown_by([&] { (void)ids.next(); }).reason(), errc::lost) << "for good";
  EXPECT_EQ(redis().snowflake("orders", {.machines = 1}).machine(), 0U);
}

TEST_P(Snowflake, WaitsForTheServersClockOnlyIfThatIsNear) {
  support::clock_shim clock;
  clock.set(60s);
  const auto stepping = start({.environment = clock.environment()});
  {
    const auto before = client{stepping.url()}.snowflake("orders", {.machines = 1});
    (void)before.next();
  }
  clock.set(0s, stepping);
  // Granted after the one before, at a time that the server's clock has yet to reach.
  const client redis{stepping.url()};
  std::optional<snowflake_generator> ids;
  EXPECT_TRUE(eventually([&] {
    try {
      ids = redis.snowflake("orders", {.machines = 1});
    } catch (const failure&) {
    }
    return ids.has_value();
  }));
  EXPECT_EQ(thrown_by([&] { (void)ids->next(); }).reason(), errc::clock_skew);
  clock.set(61s, stepping);
  const auto next = redis.snowflake("others");  // asks for the time
  EXPECT_GT(ids->next(), 0);
}

TEST_P(Snowflake, IdsCostNothing) {
  const auto ids = redis().snowflake("orders");
  (void)ids.next();
  const auto before = server().commands_processed();
  for (int i = 0; i < 1000; ++i) (void)ids.next();
  EXPECT_LT(server().commands_processed() - before, 20) << "others may ask for something meanwhile";
}

TEST_P(Snowflake, BadInputIsRefused) {
  for (const std::uint32_t machines : {0U, 1025U}) {
    EXPECT_EQ(thrown_by([&] { (void)redis().snowflake("a", {.machines = machines}); }).reason(),
              errc::invalid_argument);
  }
  for (const auto& name : {""s, std::string(513, 'x')}) {
    EXPECT_EQ(thrown_by([&] { (void)redis().snowflake(name); }).reason(), errc::invalid_name);
  }
}

// Without a client of its own: see inspector_test.cpp.
class IdsOfProcesses : public support::server_test {};
HOLDFAST_ON_EACH_SERVER(IdsOfProcesses);

TEST_P(IdsOfProcesses, AForkedChildGivesOutNone) {
  const auto server = start();
  const client redis{server.url()};
  const auto orders = redis.id_generator("orders");
  const auto events = redis.snowflake("events");
  EXPECT_EQ(orders.next(), 1);
  (void)events.next();
  support::forked child{[&](const auto& parent) {
    std::string heard;
    for (const auto* act : {"orders", "events"}) {
      try {
        heard += std::to_string(*act == 'o' ? orders.next() : events.next());
      } catch (const failure& why) {
        heard += why.reason() == errc::forked ? "forked " : why.what();
      }
    }
    parent.tell(heard);
  }};
  EXPECT_EQ(child.heard(), "forked forked ");
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(orders.next(), 2);
}

}  // namespace
}  // namespace holdfast::conformance
