// Lists of locks and of clients: what is in them, in which order, and when they end early.
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;

class Listings : public mutex_test {
 protected:
  inspector look() const { return inspector{redis()}; }
  void add_foreign_keys(int many) const {
    server().command({"EVAL", "for i = 1, ARGV[1] do redis.call('SET', 'foreign ' .. i, '') end",
                      "0", std::to_string(many)});
  }
  static std::vector<std::string> names(const lock_listing& listing) {
    std::vector<std::string> all;
    for (const auto& lock : listing.locks) all.push_back(lock.name);
    return all;
  }
};
HOLDFAST_ON_EACH_SERVER(Listings);

TEST_P(Listings, ClientsAreListed) {
  EXPECT_TRUE(look().list_clients().clients.empty());
  client_options options;
  options.name = "billing";
  const auto before = std::stoll(server().command({"TIME"}).items.at(0).text);
  const client billing{server().url(), options};
  const auto held = billing.mutex("a").acquire();
  std::vector<client> others;
  for (int i = 0; i < 40; ++i) {
    (void)others.emplace_back(server().url()).mutex("b" + std::to_string(i)).acquire();
  }
  server().command({"SET", "hf:client:no-id", "x"});
  ASSERT_TRUE(eventually([&] { return look().list_clients().clients.size() == 41; }));
  const auto found = look().list_clients();
  EXPECT_TRUE(found.complete);
  EXPECT_TRUE(found.unseen.empty());
  const auto ours = std::ranges::find_if(
      found.clients, [](const auto& one) { return one.who.program == "billing"; });
  ASSERT_NE(ours, found.clients.end());
  EXPECT_EQ(ours->who.pid, ::getpid());
  EXPECT_EQ(ours->who.id.size(), 16U);
  EXPECT_TRUE(look().status("a").owner.id.starts_with(ours->who.id + "-"));
  ASSERT_TRUE(ours->since);
  EXPECT_LE(std::abs(std::chrono::system_clock::to_time_t(*ours->since) - before), 2);
  const auto few = look().list_clients({.most = 40});
  EXPECT_EQ(few.clients.size(), 40U);
  EXPECT_FALSE(few.complete);
  EXPECT_FALSE(look().list_clients({.most_scanned = 3}).complete);
  // Keys that are no entries take nobody's place.
  server().command({"EVAL",
                    "for i = 1, 500 do redis.call('SET', string.format('hf:client:%032x', i), '') "
                    "end",
                    "0"});
  const auto among = look().list_clients({.most = 41});
  EXPECT_EQ(among.clients.size(), 41U);
  EXPECT_TRUE(among.complete);
}

TEST_P(Listings, LatchesAndBarriersAreShutAndListed) {
  const auto latch = redis().latch("ready");
  EXPECT_EQ(look().status("ready").state, lock_state::free);
  ASSERT_TRUE(latch.try_set(3));
  const auto shut = look().status("ready");
  EXPECT_EQ(shut.state, lock_state::shut);
  EXPECT_EQ(shut.kind, lock_kind::latch);
  EXPECT_EQ(shut.count, 3U);
  EXPECT_EQ(shut.waiting, 0U);
  // Counted down by somebody who tells nobody: the queue alone says what it is.
  server().command({"ZADD", "hf:{left}:w", "1", std::string(32, '0') + "-1:l1000:-0"});
  EXPECT_EQ(look().status("left").kind, lock_kind::latch);

  std::jthread party{[&] { redis().barrier("round", 2).arrive_and_wait(); }};
  ASSERT_TRUE(waits("round", 1));
  const auto round = look().status("round");
  EXPECT_EQ(round.state, lock_state::shut);
  EXPECT_EQ(round.kind, lock_kind::barrier);
  EXPECT_EQ(round.count, 2U);
  ASSERT_EQ(round.queue.size(), 1U);
  EXPECT_EQ(round.queue[0].who.pid, ::getpid());
  EXPECT_THAT(names(look().list()), ElementsAre("ready", "round"));
  EXPECT_EQ(thrown_by([&] { look().break_lock("ready", "a test"); }).reason(), errc::foreign_key);

  redis().barrier("round", 2).arrive_and_wait();
  latch.count_down(3);
  EXPECT_EQ(look().status("ready").state, lock_state::free);
  EXPECT_EQ(look().status("round").state, lock_state::free);
}

TEST_P(Listings, ListsAreSortedAndMatchPatterns) {
  std::vector<lease> all;
  for (const auto& name : {"b"s, "order/10"s, "order/2"s, "{*}"s, "a%\0b"s, "order"s}) {
    all.push_back(redis().mutex(name).acquire());
  }
  const auto matching = [&](const std::string& pattern) { return names(look().list(pattern)); };
  EXPECT_THAT(matching("*"), ElementsAre("a%\0b"s, "b", "order", "order/10", "order/2", "{*}"));
  EXPECT_THAT(matching("order*"), ElementsAre("order", "order/10", "order/2"));
  EXPECT_THAT(matching("a*b"), ElementsAre("a%\0b"s));
  EXPECT_THAT(matching("a%\0?"s), ElementsAre("a%\0b"s));
  EXPECT_THAT(matching("a%"), ElementsAre());
  EXPECT_THAT(matching("order/?"), ElementsAre("order/2"));
  EXPECT_THAT(matching("[a-b]"), ElementsAre("b"));
  EXPECT_THAT(matching("{\\*}"), ElementsAre("{*}"));
  EXPECT_THAT(matching(""), ElementsAre());
  const auto listing = look().list();
  EXPECT_TRUE(listing.complete);
  for (const auto& lock : listing.locks) {
    EXPECT_EQ(lock.state, lock_state::held);
    EXPECT_EQ(lock.owner.pid, ::getpid());
  }
}

TEST_P(Listings, ListsAreBounded) {
  std::vector<lease> all;
  for (int i = 0; i < 10; ++i) all.push_back(redis().mutex(std::to_string(i)).acquire());
  const auto listed = [&](std::size_t most) { return look().list("*", {.most = most}); };
  EXPECT_EQ(listed(10).locks.size(), 10U);
  EXPECT_TRUE(listed(10).complete);
  EXPECT_EQ(listed(9).locks.size(), 9U);
  EXPECT_FALSE(listed(9).complete);
  EXPECT_TRUE(listed(9).cut_short);
}

// Keys and the index name locks that nobody holds. A full page is not more than a page.
TEST_P(Listings, AFullPageIsCutShortOnlyWhereAnotherLockIsHeld) {
  std::vector<lease> all;
  for (int i = 0; i < 10; ++i) all.push_back(redis().mutex(std::to_string(i)).acquire());
  server().command({"SET", "hf:{text}", "of somebody else"});
  const auto score = std::to_string(std::int64_t{1} << 52);
  for (const auto& lock : all) {
    server().command({"ZADD", "hf:held", score, std::string(lock.name())});
  }
  server().command({"ZADD", "hf:held", score, "text", score, "free"});
  const auto listings = [&](std::size_t most) {
    return std::vector{look().list("*", {.most = most}),
                       look().list("*", {.most = most, .most_scanned = 0}),
                       look().list_all_dialects("*", {.most = most})};
  };
  for (const auto& listing : listings(10)) {
    EXPECT_EQ(listing.locks.size(), 10U);
    EXPECT_FALSE(listing.cut_short) << listing.indexed;
    EXPECT_NE(listing.complete, listing.indexed);
  }
  for (const auto& listing : listings(9)) {
    EXPECT_EQ(listing.locks.size(), 9U);
    EXPECT_TRUE(listing.cut_short) << listing.indexed;
    EXPECT_FALSE(listing.complete);
  }
}

// Where there are more keys than may be looked at, names come from the index.
TEST_P(Listings, ListsAmongManyKeysAreReadFromTheIndex) {
  add_foreign_keys(20'000);
  std::vector<lease> all;
  for (int i = 0; i < 300; ++i) all.push_back(redis().mutex("x" + std::to_string(i)).acquire());
  const auto several = redis().read_write_lock("{shared}").shared().acquire();
  ASSERT_TRUE(redis().latch("ready").try_set(1));
  const auto listed = [&](const std::string& pattern) {
    return look().list(pattern, {.most_scanned = 5'000});
  };
  EXPECT_TRUE(eventually([&] { return listed("*").locks.size() == all.size() + 2; }));
  EXPECT_TRUE(listed("*").indexed);
  EXPECT_FALSE(listed("*").complete) << "an index cannot promise it";
  EXPECT_FALSE(listed("*").cut_short);
  EXPECT_THAT(names(listed("x12?")), ElementsAre("x120", "x121", "x122", "x123", "x124", "x125",
                                                 "x126", "x127", "x128", "x129"));
  EXPECT_THAT(names(listed("x7")), ElementsAre("x7"));
  EXPECT_FALSE(listed("x7").indexed) << "one name is looked up directly";
  EXPECT_EQ(look().list("*", {.most = 10, .most_scanned = 0}).locks.size(), 10U);
  EXPECT_FALSE(look().list("*", {.most = 10, .most_scanned = 0}).complete);
  EXPECT_FALSE(look().list("*").indexed);
  // A lock that is free now is not shown, though the index names it.
  all.erase(all.begin() + 1, all.end());
  EXPECT_TRUE(eventually([&] { return look().status("x299").state == lock_state::free; }));
  EXPECT_THAT(names(listed("*")), ElementsAre("ready", "x0", "{shared}"));
}

TEST_P(Listings, LocksThatAreHeldForShortAreSampledForTheIndex) {
  const auto index = [&] {
    return server().command({"ZRANGE", "hf:held", "0", "-1"}).items.size();
  };
  EXPECT_TRUE(eventually([&] {
    (void)redis().mutex("short").acquire().release();
    return index() == 1;
  }));
}

// Should the holder die now, or just before it writes the next time.
TEST_P(Listings, TheIndexOutlivesWhatTheServerKeeps) {
  const auto ends = [&] {
    const auto until = server().command({"ZSCORE", "hf:held", "a"});
    const auto now = server().command({"TIME"}).items.at(0).text;
    return until.text.empty()
               ? 0s
               : std::chrono::seconds(std::stoll(until.text) / 1000 - std::stoll(now));
  };
  auto held = redis().mutex("a", {.lease = 10min, .lock_delay = 5min}).acquire();
  EXPECT_TRUE(eventually([&] { return ends() > 0s; }));
  EXPECT_GE(ends(), 10min + 5min + 1min);
  held.extend(1h).value();
  EXPECT_TRUE(eventually([&] { return ends() > 1h; }));
  ASSERT_TRUE(held.release());
  EXPECT_TRUE(eventually([&] { return ends() <= 2min; })) << "or old names pile up";
}

TEST_P(Listings, ALatchIsInTheIndexThoughItsClientHasEnded) {
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(another_client().latch("ready" + std::to_string(i)).try_set(1));
  }
  EXPECT_TRUE(eventually([&] { return look().list("*", {.most_scanned = 1}).locks.size() == 10; }));
}

TEST_P(Listings, SearchesTellHowFarTheyAreAndCanBeStopped) {
  add_foreign_keys(20'000);
  std::size_t scanned = 0;
  std::size_t keys = 0;
  list_options how;
  how.progress = [&](std::size_t now, std::size_t of) {
    EXPECT_GE(now, scanned);
    scanned = now;
    keys = of;
  };
  EXPECT_TRUE(look().list("*", how).complete);
  EXPECT_GE(scanned, 20'000U);
  EXPECT_GE(keys, 20'000U);
  std::stop_source stop;
  how.stop = stop.get_token();
  how.progress = [&](std::size_t now, std::size_t) {
    scanned = now;
    stop.request_stop();
  };
  for (const bool all : {false, true}) {
    const auto why = thrown_by(
        [&] { (void)(all ? look().list_all_dialects("*", how) : look().list("*", how)); });
    EXPECT_EQ(why.reason(), errc::cancelled);
    EXPECT_LT(scanned, 10'000U);
  }
  how.most_scanned = 1;
  EXPECT_EQ(thrown_by([&] { (void)look().list("*", how); }).reason(), errc::cancelled)
      << "also while it reads the index";
}

}  // namespace
}  // namespace holdfast::conformance
