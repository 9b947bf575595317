// A connection seen from inside, on which its server ends it.
#include <atomic>
#include <thread>

#include "faults/faulty_server.hpp"
#include "net/background_thread.hpp"
#include "redis/connection.hpp"
#include "support/fake_server.hpp"

namespace holdfast::faults {
namespace {

using delivery = redis::connection::delivery;
using support::fake_server;

class counting final : public redis::connection::observer {
 public:
  std::atomic<int> breaks{0};
  void on_connected(const redis::session_facts&) override {}
  void on_push(resp::value&, std::uint64_t) override {}
  void on_broken() override { ++breaks; }
};

// A command of one word. Its waiter, if it has one, is done with the end.
class word final : public redis::request {
 public:
  explicit word(std::string text, redis::waiter* who = nullptr)
      : text_(std::move(text)), who_(who) {
    set_sleeper(who);
  }
  std::atomic<bool> ended{false};

 private:
  void write(resp::writer& out, monotonic_time) override {
    out.command(1);
    out.arg(text_);
  }
  void on_reply(resp::value&) override { end(); }
  void on_failed(redis::fate, const redis::breakdown&) override { end(); }
  void end() {
    auto* const who = who_;
    ended = true;
    if (who != nullptr) who->done();
  }

  const std::string text_;
  redis::waiter* const who_;
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
    return settings;
  }
  // On this thread, as in sync_wait.
  void ask(const std::string& what, delivery how) {
    redis::waiter self{redis::waiter::kind::executor, &link};
    word asked(what, &self);
    link.submit(asked, how);
    link.drive(self);
    link.forget(self);
  }
  void say(const std::string& what) {
    word said(what);
    link.submit(said, delivery::prompt);
    EXPECT_TRUE(eventually([&] { return said.ended.load(); }));
  }

  fake_server server{[](const auto& words) -> std::optional<fake_server::reply> {
    if (words.front() == "WAIT") return fake_server::silence();
    if (words.front() == "RESET") return fake_server::hang_up(fake_server::then::reset);
    return std::nullopt;
  }};
  counting observer;
  net::background_thread helper;
  redis::connection link{settings_of(server), {}, helper, observer};
};

// The background thread reads and a coroutine's thread would like to: it is not asked to when there
// is nothing left to read, or two of them would clean up.
TEST_F(Connection, ThatBreaksIsCleanedUpOnce) {
  constexpr int rounds = 20;
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

}  // namespace
}  // namespace holdfast::faults
