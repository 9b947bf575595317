// Lists of many locks: over a long line, over a slow one, from a server that falls silent, and
// beside what others have written.
#include <atomic>
#include <functional>
#include <future>
#include <set>
#include <string>
#include <utility>

#include "faults/faulty_server.hpp"
#include "support/fake_server.hpp"
#include "support/pause.hpp"

namespace holdfast::faults {
namespace {

using support::fake_server;

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

// What `inspect` says of a mutex with this value.
std::string held_by(const std::string& value) {
  return "*8\r\n" + bulk("string") + bulk(value) +
         ":30000\r\n:1795240014867674\r\n:0\r\n*0\r\n$-1\r\n$-1\r\n";
}
const std::string held = held_by("1:77:somebody");

std::string times(std::size_t many, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < many; ++i) all += text;
  return all;
}

// The keys of so many locks, in one page.
fake_server::reply page_of(std::size_t locks) {
  std::string page = "*2\r\n$1\r\n0\r\n*" + std::to_string(locks) + "\r\n";
  for (std::size_t i = 0; i < locks; ++i) page += bulk("hf:{" + std::to_string(i) + "}");
  return fake_server::answer(page);
}

// Names so many locks; of the questions about each it leaves the answer to the test.
class list_server {
 public:
  using on_look = std::function<fake_server::reply(std::size_t before)>;

  list_server(std::size_t locks, on_look how)
      : server_([this, locks, how = std::move(how)](
                    const fake_server::command& said) -> std::optional<fake_server::reply> {
          if (said[0] == "DBSIZE") return fake_server::answer(":10\r\n");
          if (said[0] == "SCAN") return page_of(locks);
          if (said[0] != "EVALSHA" && said[0] != "EVAL") return std::nullopt;
          return how(looks_++);
        }) {}

  std::size_t looks() const { return looks_; }
  fake_server& server() { return server_; }

 private:
  std::atomic<std::size_t> looks_ = 0;
  fake_server server_;
};

// The server says nothing before a whole batch of questions has come. Batches grow.
TEST(LongList, IsAskedForManyAtATime) {
  const std::set<std::size_t> ends{4, 12, 28, 60, 92, 124};
  std::size_t told = 0;
  list_server far(124, [&](std::size_t before) {
    const auto come = before + 1;
    if (!ends.contains(come)) return fake_server::silence();
    return fake_server::answer(times(come - std::exchange(told, come), held));
  });
  const client redis{far.server().url(), patient()};
  const auto found = inspector{redis}.list();
  EXPECT_EQ(found.locks.size(), 124U);
  EXPECT_TRUE(found.complete);
  EXPECT_EQ(far.looks(), 124U);
}

// The holders, too: each lock has another one.
TEST(LongList, LooksUpManyClientsAtATime) {
  constexpr std::size_t locks = 28;
  list_server far(locks, [&](std::size_t before) {
    const auto come = before + 1;
    if (come <= locks) {
      const auto digits = std::to_string(1000 + come);
      return fake_server::answer(
          held_by("1:77:" + std::string(32 - digits.size(), '0') + digits + "-1"));
    }
    const bool is_batch = come == locks + 4 || come == locks + 12 || come == 2 * locks;
    const std::size_t many = come == locks + 4 ? 4 : come == locks + 12 ? 8 : 16;
    return is_batch ? fake_server::answer(times(many, "*0\r\n")) : fake_server::silence();
  });
  const client redis{far.server().url(), patient()};
  EXPECT_EQ(inspector{redis}.list().locks.size(), locks);
  EXPECT_EQ(far.looks(), 2 * locks);
}

// A batch that is too large for its line breaks the connection. Then each is asked alone.
TEST(LongList, IsAskedOneByOneWhereManyAreTooMany) {
  constexpr std::size_t many = 20;
  std::size_t in_a_row = 0;
  std::atomic<bool> is_slow = true;
  list_server slow(many, [&](std::size_t before) {
    // The second batch gets no answers.
    if (before < 4) return fake_server::answer(held);
    if (is_slow && before < 12) {
      if (++in_a_row == 8) is_slow = false;
      return fake_server::silence();
    }
    return fake_server::answer(held);
  });
  const client redis{slow.server().url(), impatient()};
  const auto found = inspector{redis}.list();
  EXPECT_EQ(found.locks.size(), many);
  EXPECT_TRUE(found.complete);
}

// Answers that come when nobody waits for them any more belong to nobody.
TEST(LongList, IsNotConfusedByLateAnswers) {
  std::atomic<bool> is_silent = true;
  list_server server(8, [&](std::size_t) {
    return is_silent ? fake_server::silence() : fake_server::answer(held);
  });
  const client redis{server.server().url(), patient()};
  for (int round = 0; round < 3; ++round) {
    is_silent = true;
    const auto before = server.looks();
    std::stop_source stop;
    auto listing = std::async(std::launch::async, [&] {
      EXPECT_THROW((void)inspector{redis}.list("*", {.stop = stop.get_token()}), failure);
    });
    ASSERT_TRUE(eventually([&] { return server.looks() == before + 4; }));
    stop.request_stop();
    listing.get();
    is_silent = false;
    server.server().push(times(4, "*0\r\n"));
    EXPECT_EQ(inspector{redis}.list().locks.size(), 8U);
  }
}

TEST(LongList, OfClientsThatCannotBeSeenIsAFailure) {
  std::atomic<bool> is_away = false;
  const fake_server server([&](const auto& said) -> std::optional<fake_server::reply> {
    if (said[0] == "DBSIZE") return fake_server::answer(":1\r\n");
    if (said[0] == "SCAN") {
      is_away = true;
      return fake_server::answer("*2\r\n$1\r\n0\r\n*1\r\n" +
                                 bulk("hf:client:" + std::string(32, 'a')));
    }
    return is_away ? std::optional{fake_server::silence()} : std::nullopt;
  });
  const client redis{server.url(), impatient()};
  EXPECT_THROW((void)inspector{redis}.list_clients(), failure);
}

// Each answer comes in time, all together take longer than one may.
TEST(LongList, OverASlowLineIsWholeAllTheSame) {
  constexpr std::size_t many = 16;
  list_server slow(many, [](std::size_t) { return fake_server::silence(); });
  auto options = impatient();
  options.response_timeout = 1s;
  const client redis{slow.server().url(), options};
  auto listing = std::async(std::launch::async, [&] { return inspector{redis}.list(); });
  for (std::size_t i = 0; i < many; ++i) {
    ASSERT_TRUE(eventually([&] { return slow.looks() > i; }));
    support::pause(80ms);
    slow.server().push(held);
  }
  EXPECT_EQ(listing.get().locks.size(), many);
}

// The answers that are missing are not waited for one after the other.
TEST(LongList, OfAServerThatFallsSilentEnds) {
  list_server tired(600, [](std::size_t before) {
    return before < 40 ? fake_server::answer(held) : fake_server::silence();
  });
  const client redis{tired.server().url(), impatient()};
  const auto before = net::now();
  try {
    (void)inspector{redis}.list();
    ADD_FAILURE() << "a list";
  } catch (const failure& why) {
    EXPECT_EQ(why.reason(), errc::unavailable);
    EXPECT_THAT(why.what(), ::testing::HasSubstr("did not answer within"));
  }
  EXPECT_LT(net::now() - before, 10s);
  EXPECT_LT(tired.looks(), 130U);
}

TEST(LongList, IsStoppedWhileAnswersAreAwaited) {
  list_server silent(100, [](std::size_t) { return fake_server::silence(); });
  const client redis{silent.server().url(), patient()};
  std::stop_source stop;
  auto listing = std::async(std::launch::async, [&] {
    try {
      (void)inspector{redis}.list("*", {.stop = stop.get_token()});
    } catch (const failure& why) {
      return why.reason();
    }
    return errc::busy;
  });
  ASSERT_TRUE(eventually([&] { return silent.looks() > 0; }));
  stop.request_stop();
  EXPECT_EQ(listing.get(), errc::cancelled);
}

// What was under way is asked again.
TEST(LongList, SurvivesAConnectionThatBreaks) {
  list_server rude(10, [](std::size_t before) {
    return before == 5 ? fake_server::hang_up() : fake_server::answer(held);
  });
  const client redis{rude.server().url(), patient()};
  EXPECT_EQ(inspector{redis}.list().locks.size(), 10U);
}

class ListBesideOthers : public fault_test {
 protected:
  static std::int64_t bytes_told_by(const private_server& server) {
    const auto info = server.command({"INFO", "stats"}).text;
    const auto at = info.find("total_net_output_bytes:");
    return std::stoll(info.substr(info.find(':', at) + 1));
  }
  // What the server sends for a list.
  static std::int64_t bytes_of_list(const private_server& server, const inspector& look) {
    const auto before = bytes_told_by(server);
    EXPECT_EQ(look.list().locks.size(), 2U);
    return bytes_told_by(server) - before;
  }
};
HOLDFAST_ON_EACH_SERVER(ListBesideOthers);

// Other programs may write texts of any size into a queue, holders or an entry.
TEST_P(ListBesideOthers, IsOfABoundedSize) {
  const auto server = start();
  const client redis{server.url(), patient()};
  const auto one = redis.mutex("a").acquire();
  const auto other = redis.semaphore("s", {.permits = 4}).acquire();
  const inspector look{redis};
  const auto usual = bytes_of_list(server, look);
  const std::string large(1 << 20, 'x');
  const auto entry = server.command({"KEYS", "hf:client:*"}).items.at(0).text;
  server.command({"HSET", entry, "host", large, "program", large, "nonsense", large});
  for (int i = 0; i < 3; ++i) {
    server.command({"ZADD", "hf:{a}:w", std::to_string(i), large + std::to_string(i)});
    server.command({"ZADD", "hf:{s}:w", std::to_string(i), large + std::to_string(i)});
    server.command({"HSET", "hf:{s}", "field" + std::to_string(i), large});
  }
  server.command({"SET", "hf:{s}:n", large});
  EXPECT_LT(bytes_of_list(server, look), usual + 20'000);
  EXPECT_EQ(look.status("a").owner.host.size(), 128U);
  EXPECT_EQ(look.status("a").waiting, 3U);
  EXPECT_EQ(look.list_clients().clients.at(0).who.host.size(), 128U);
}

TEST_P(ListBesideOthers, ShowsLocksWhoseEntryCannotBeRead) {
  const auto server = start();
  const client redis{server.url(), patient()};
  const auto one = redis.mutex("a").acquire();
  const auto another = redis.mutex("b").acquire();
  const auto entry = server.command({"KEYS", "hf:client:*"}).items.at(0).text;
  server.command({"DEL", entry});
  server.command({"LPUSH", entry, "no entry"});
  const inspector look{redis};
  EXPECT_EQ(look.list().locks.size(), 2U);
  EXPECT_TRUE(look.list().complete);
  EXPECT_EQ(look.status("a").state, lock_state::held);
  EXPECT_EQ(look.status("a").owner.host, "");
  EXPECT_TRUE(look.list_clients().clients.empty());
}

// It may read the locks, and no entry of the registry.
TEST_P(ListBesideOthers, ShowsLocksToWhoMayNotReadTheRegistry) {
  const auto server = start();
  const client redis{server.url(), patient()};
  const auto one = redis.mutex("a").acquire();
  auto rights = access_rights_for("*", {"viewer"}).needed;
  std::erase(rights, "~hf:client:*");
  std::vector<std::string> user{"ACL", "SETUSER", "guest", "reset", "on", ">secret"};
  user.insert(user.end(), rights.begin(), rights.end());
  ASSERT_FALSE(server.command(user).is(resp::type::error));
  auto options = patient();
  options.username = "guest";
  options.password = "secret";
  const inspector look{client{server.url(), options}};
  EXPECT_EQ(look.list().locks.size(), 1U);
  EXPECT_EQ(look.status("a").owner.host, "");
  EXPECT_THROW((void)look.list_clients(), failure);
}

}  // namespace
}  // namespace holdfast::faults
