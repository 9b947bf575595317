// A connection seen from inside, while servers end it, fall silent or move.
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <thread>
#include <utility>

#include "faults/fake_sentinel.hpp"
#include "faults/faulty_server.hpp"
#include "net/background_thread.hpp"
#include "redis/connection/connection.hpp"
#include "support/fake_server.hpp"
#include "support/no_thread_left.hpp"

namespace holdfast::faults {
namespace {

using delivery = redis::connection::delivery;
using support::fake_server;

class counting final : public redis::connection::observer {
 public:
  std::atomic<int> breaks{0};
  std::function<void()> when_connected = [] {};
  std::atomic<bool> is_needed{false};
  std::atomic<bool> can_be_spared{false};

 private:
  void on_connected(const redis::session_facts&) override { when_connected(); }
  void on_push(resp::value&, std::uint64_t) override {}
  void on_broken() override { ++breaks; }
  bool needs_connection() override { return is_needed; }
  bool is_dispensable() override { return can_be_spared; }
};

// A command of one word. Its waiter, if it has one, is done with the end.
class word final : public redis::request {
 public:
  explicit word(std::string text, net::waiter* who = nullptr) : text_(std::move(text)), who_(who) {
    set_sleeper(who);
  }
  // That is done with the end, but not named: nobody can ask it to read.
  void tell(net::waiter& who) { who_ = &who; }

  std::atomic<bool> answered{false};
  std::atomic<bool> ended{false};
  std::atomic<std::thread::id> read_by{};

 private:
  void write(resp::writer& out, monotonic_time) override {
    out.command(1);
    out.arg(text_);
  }
  void on_reply(resp::value&) override {
    answered = true;
    read_by = std::this_thread::get_id();
    end();
  }
  void on_failed(no_answer, const redis::breakdown&) override { end(); }
  void end() {
    auto* const who = who_;
    ended = true;
    if (who != nullptr) who->done();
  }

  const std::string text_;
  net::waiter* who_;
};

class Connection : public ::testing::Test {
 protected:
  Connection() { helper.start({&link}); }
  ~Connection() override {
    helper.stop();
    link.shut_down();
  }

  static redis::session_settings settings_of(const fake_server& server) {
    redis::session_settings settings;
    settings.where = net::tcp_endpoint{"127.0.0.1", server.port()};
    settings.response_timeout = 200ms;
    return settings;
  }
  static redis::connection_tuning often_pinging() {
    redis::connection_tuning tuning;
    tuning.ping_after = 100ms;
    tuning.patience = 50ms;  // much longer than a thread of a busy machine waits for its turn
    return tuning;
  }
  // On this thread, as in sync_wait.
  void ask(const std::string& what, delivery how) {
    net::waiter self{net::waiter::kind::executor, &link};
    word asked(what, &self);
    link.submit(asked, how);
    link.drive(self);
    link.forget(self);
  }
  // Whether there was an answer.
  bool say(const std::string& what) {
    word said(what);
    link.submit(said, delivery::prompt);
    EXPECT_TRUE(eventually([&] { return said.ended.load(); }));
    return said.answered;
  }

  static std::optional<fake_server::reply> answer(const fake_server::command& words) {
    if (words.front() == "WAIT") return fake_server::silence();
    if (words.front() == "RESET") return fake_server::hang_up(fake_server::then::reset);
    return std::nullopt;
  }

  fake_server server{answer};
  counting observer;
  net::background_thread helper;
  redis::connection link{settings_of(server), often_pinging(), helper, observer};
};

// The background thread reads and a coroutine's thread would like to: it is not asked to when there
// is nothing left to read, or two of them would clean up.
TEST_F(Connection, ThatBreaksIsCleanedUpOnce) {
  constexpr int rounds = 200;
  for (int round = 1; round <= rounds; ++round) {
    ask("PING", delivery::driven);
    std::thread waits([&] { ask("WAIT", delivery::prompt); });
    EXPECT_TRUE(eventually([&] { return server.received("WAIT") == std::size_t(round); }));
    say("RESET");
    waits.join();
  }
  EXPECT_EQ(observer.breaks, rounds);
  EXPECT_EQ(server.connections(), std::size_t(rounds));
}

// As for a server whose client eviction takes the newcomer, or a proxy that dislikes a command.
TEST_F(Connection, ThatEndsBeforeItsFirstAnswerIsNotMadeAgainAtOnce) {
  for (const auto end = net::now() + 2s; net::now() < end;) EXPECT_FALSE(say("RESET"));
  // After 0, 10, 20, 40, ... 640, 1000 ms.
  EXPECT_LE(server.connections(), 12U);
  EXPECT_GE(server.connections(), 3U);
}

// The background thread reads for it although nothing is asked.
TEST_F(Connection, ThatOnlyListensNoticesASilentServer) {
  EXPECT_TRUE(say("PING"));
  link.listen(nullptr);
  server.on([](const auto&) { return fake_server::silence(); });
  EXPECT_TRUE(eventually([&] { return observer.breaks == 1; }));
  link.unlisten(nullptr);
}

TEST_F(Connection, IsNotKeptWhenNewsOfAnotherMasterCameWhileItWasMade) {
  std::atomic<int> made{0};
  observer.when_connected = [&] {
    if (++made == 1) link.leave_for("127.0.0.1:1");
  };
  EXPECT_TRUE(say("PING"));
  EXPECT_EQ(made, 2);
  EXPECT_EQ(server.connections(), 2U);
}

// The median of several, since the machine may be busy.
template <typename Function>
nanoseconds median_of(const Function& function) {
  std::array<nanoseconds, 21> took{};
  for (auto& one : took) one = function();
  std::ranges::sort(took);
  return took[took.size() / 2];
}

TEST_F(Connection, ReadsLaterWhatWasLeftToLie) {
  EXPECT_TRUE(say("PING"));
  const auto after = [&](void (redis::connection::*leave)()) {
    word asked("PING");
    const auto begin = net::now();
    link.submit(asked, delivery::watched);
    (link.*leave)();
    EXPECT_TRUE(eventually([&] { return asked.ended.load(); }));
    return net::now() - begin;
  };
  const auto soon = median_of([&] { return after(&redis::connection::look_soon); });
  const auto later = median_of([&] { return after(&redis::connection::let_lie); });
  EXPECT_GT(later, soon + often_pinging().patience / 2);
}

// The background thread has read the answers that had come. The others may lie on, so the next
// caller sends its request itself, and reads all answers itself.
TEST_F(Connection, IsLeftToWhoAsksNextWhenWhatIsUnderWayMayLie) {
  server.on([](const auto& words) -> std::optional<fake_server::reply> {
    if (words.front() == "WAIT") return fake_server::silence();
    if (words.front() == "GO") return fake_server::answer("+WAITED\r\n+GONE\r\n");
    return std::nullopt;
  });
  EXPECT_TRUE(say("PING"));
  constexpr int rounds = 20;
  int read_here = 0;  // the background thread may not have left it yet
  for (int i = 0; i < rounds; ++i) {
    net::waiter self{net::waiter::kind::caller, &link};
    word comes("PING"), waits("WAIT"), next("GO", &self);
    link.submit(comes, delivery::watched);
    link.submit(waits, delivery::watched);
    link.let_lie();
    EXPECT_TRUE(eventually([&] { return comes.ended.load(); }));
    link.submit(next, delivery::driven);
    link.drive(self);
    EXPECT_TRUE(next.answered && waits.answered);
    if (waits.read_by.load() == std::this_thread::get_id()) ++read_here;
  }
  EXPECT_GE(read_here, rounds / 2);
}

// Its caller has left without a word, as where a vote was decided just before the caller looked.
TEST_F(Connection, ReadsInTheEndWhatNobodyLooksFor) {
  EXPECT_TRUE(say("PING"));
  word asked("PING");
  link.submit(asked, delivery::watched);
  EXPECT_TRUE(eventually([&] { return asked.ended.load(); }));
  EXPECT_TRUE(asked.answered);
}

TEST_F(Connection, NoticesASilentServerThatNobodyLooksAt) {
  EXPECT_TRUE(say("PING"));
  word asked("WAIT");
  link.submit(asked, delivery::watched);
  link.let_lie();
  EXPECT_TRUE(eventually([&] { return asked.ended.load(); }));
  EXPECT_FALSE(asked.answered);
}

// The waiter sleeps since the background thread reads, and its request does not name it. The
// background thread must not stop when it has read the earlier answers.
TEST_F(Connection, IsReadOnForWhoSleepsOverWhatHeWatches) {
  class nobody final : public net::waiter::companion {
    void before_sleep() override {}
  } beside;
  EXPECT_TRUE(say("PING"));
  const auto late_by = [&](bool behind_others) {
    net::waiter self{net::waiter::kind::caller};
    self.set_companion(&beside);
    word others("WAIT"), mine("WAIT");
    mine.tell(self);
    const auto before = server.received("WAIT");
    if (behind_others) link.submit(others, delivery::prompt);
    link.submit(mine, delivery::watched);
    std::thread sleeper([&] { link.drive(self); });
    const auto asked = before + (behind_others ? 2 : 1);
    EXPECT_TRUE(eventually([&] { return server.received("WAIT") == asked; }));
    if (behind_others) server.push("+FIRST\r\n");
    EXPECT_TRUE(eventually([&] { return others.ended == behind_others; }));
    ::poll(nullptr, 0, 2);  // what reads has time to leave off
    const auto begin = net::now();
    server.push("+SECOND\r\n");
    sleeper.join();
    EXPECT_EQ(others.answered, behind_others);
    EXPECT_TRUE(mine.answered);
    return net::now() - begin;
  };
  const auto alone = median_of([&] { return late_by(false); });
  EXPECT_LT(median_of([&] { return late_by(true); }), alone + often_pinging().patience / 2);
}

TEST_F(Connection, LetsNothingLieThatSomebodyElseWaitsFor) {
  EXPECT_TRUE(say("PING"));
  const auto after = [&](bool another_leaves_his) {
    net::waiter self{net::waiter::kind::executor, &link};
    word theirs("PING", &self), asked("PING");
    const auto begin = net::now();
    link.submit(theirs, delivery::driven);
    link.forget(self);  // it goes elsewhere
    if (another_leaves_his) {
      link.submit(asked, delivery::watched);
      link.let_lie();
    }
    EXPECT_TRUE(eventually([&] { return theirs.ended.load(); }));
    const auto took = net::now() - begin;
    EXPECT_TRUE(say("PING")) << "behind both";
    return took;
  };
  const auto alone = median_of([&] { return after(false); });
  EXPECT_LT(median_of([&] { return after(true); }), alone + often_pinging().patience / 2);
}

TEST_F(Connection, ReadsWhatWasLeftToLieAlthoughMoreIsAskedAllTheTime) {
  EXPECT_TRUE(say("PING"));
  std::deque<word> asked;
  const auto begin = net::now();
  nanoseconds longest_pause{0};  // in such a one all may be read that has lain until then
  for (auto now = begin; now < begin + support::generous;) {
    link.submit(asked.emplace_back("PING"), delivery::watched);
    link.let_lie();
    ::poll(nullptr, 0, 1);
    if (asked.front().ended) break;
    const auto before = std::exchange(now, net::now());
    longest_pause = std::max<nanoseconds>(longest_pause, now - before);
  }
  EXPECT_LE(net::now() - begin, 2 * often_pinging().patience + 3 * longest_pause);
  EXPECT_TRUE(asked.front().answered);
  EXPECT_TRUE(say("PING")) << "behind all of them";
}

TEST_F(Connection, IsMadeAgainWhenTheSystemHasAThreadForItAgain) {
  {
    const support::no_thread_left now;
    EXPECT_FALSE(say("PING"));
  }
  EXPECT_TRUE(say("PING"));
}

TEST_F(Connection, IsClosedWhenItIsSilentAndCanBeSpared) {
  observer.can_be_spared = true;
  EXPECT_TRUE(say("PING"));
  EXPECT_TRUE(eventually([&] { return server.open_connections() == 0; }));
  observer.can_be_spared = false;
  EXPECT_TRUE(say("ECHO")) << "it is made again when something is asked";
  const auto pings = server.received("INFO");
  EXPECT_TRUE(eventually([&] { return server.received("INFO") > pings; }));
  EXPECT_EQ(server.connections(), 2U);
}

// Nothing is asked, so nothing is refused: those who wait for messages would wait for ever.
TEST_F(Connection, IsLeftWhenItsSilentServerHasBecomeAReplica) {
  observer.is_needed = true;
  EXPECT_TRUE(say("PING"));
  EXPECT_FALSE(eventually([&] { return server.connections() > 1; }, 700ms));
  server.on([](const auto& words) -> std::optional<fake_server::reply> {
    if (words.front() != "INFO") return std::nullopt;
    return fake_server::answer("+role:slave\r\n");
  });
  EXPECT_TRUE(eventually([&] { return server.connections() > 1; }));
}

class ConnectionBySentinels : public ::testing::Test {
 protected:
  ~ConnectionBySentinels() override {
    helper_.stop();
    if (link_) link_->shut_down();
  }

  // Connects, and stays in touch with the first of these.
  void connect(std::initializer_list<std::uint16_t> sentinels) {
    settings_.connect_timeout = settings_.response_timeout = support::generous;
    auto& group = settings_.sentinels.emplace();
    group.service = "locks";
    for (const auto port : sentinels) {
      group.members.emplace_back(net::tcp_endpoint{"127.0.0.1", port});
    }
    observer_.is_needed = true;
    link_.emplace(settings_, redis::connection_tuning{}, helper_, observer_);
    helper_.start({&*link_});
    link_->submit(first_, delivery::prompt);
    EXPECT_TRUE(eventually([&] { return first_.ended.load(); }));
  }

 private:
  redis::session_settings settings_;
  counting observer_;
  word first_{"PING"};
  net::background_thread helper_;
  std::optional<redis::connection> link_;
};

// Between the answer that led here and the first look of the watch, the sentinels agreed on
// another.
TEST_F(ConnectionBySentinels, IsLeftWhenTheFirstLookShowsAnotherMaster) {
  const fake_server old, other;
  std::atomic<int> asked{0};
  const fake_server sentinel([&](const auto& words) -> std::optional<fake_server::reply> {
    if (!asks_for_master(words)) return subscribed(words);
    return named(asked++ == 0 ? old.port() : other.port());
  });
  connect({sentinel.port()});
  EXPECT_TRUE(eventually([&] { return other.connections() == 1; }));
}

TEST_F(ConnectionBySentinels, IsNotLeftForAMasterOfBeforeTheLastFailover) {
  const fake_server before, master, next;
  fake_server first(naming(master.port(), 2));
  fake_server second(naming(master.port(), 2));
  connect({first.port(), second.port()});
  first.on(naming(before.port(), 1));
  EXPECT_TRUE(eventually([&] { return second.received("SENTINEL") > 0; })) << "the next is asked";
  EXPECT_EQ(master.connections(), 1U) << "never left";
  second.on(naming(next.port(), 3));
  EXPECT_TRUE(eventually([&] { return next.connections() == 1; }));
  EXPECT_EQ(before.connections(), 0U);
  EXPECT_EQ(master.connections(), 1U);
}

TEST_F(ConnectionBySentinels, IsLeftWhenMostOfThemWereSetUpAnew) {
  const fake_server master, next;
  fake_server first(naming(master.port(), 5));
  fake_server second(naming(master.port(), 5));
  const fake_server third([](const auto& words) { return subscribed(words); });
  connect({first.port(), second.port(), third.port()});
  first.on(naming(next.port(), 0));
  second.on(naming(next.port(), 0));
  EXPECT_TRUE(eventually([&] { return next.connections() == 1; }, 2 * support::generous));
}

// Messages without end, whoever reads them, and however long the answer may lie.
TEST_F(Connection, FloodOfMessagesEndsNoResponseTimeout) {
  const std::string message = ">3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$1\r\ny\r\n";
  server.on([&](const auto& words) -> std::optional<fake_server::reply> {
    if (words.front() == "FLOOD") return fake_server::flood(message);
    return std::nullopt;
  });
  for (const auto how : {delivery::prompt, delivery::watched, delivery::lazy}) {
    word asked("FLOOD");
    link.submit(asked, how);
    ASSERT_TRUE(eventually([&] { return asked.ended.load(); }));
    EXPECT_FALSE(asked.answered);
  }
  ask("FLOOD", delivery::driven);
}

}  // namespace
}  // namespace holdfast::faults
