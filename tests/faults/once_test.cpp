// Requests that must count once: the connection is cut behind every single byte of the request and
// of its reply, and copies of it come late.
#include <future>
#include <optional>
#include <thread>

#include "faults/faulty_server.hpp"
#include "support/clock_shim.hpp"
#include "support/fault_proxy.hpp"

namespace holdfast::faults {
namespace {

using support::cut;
using support::fault_proxy;
using support::toward;

class Once : public fault_test {
 protected:
  void SetUp() override {
    fault_test::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) server_.emplace(start());
  }
  const private_server& server() const { return *server_; }

  // Calls `operation(client)` with the connection cut behind each of its bytes in turn, and after
  // each `check(how often it was called)`.
  template <typename Operation, typename Check>
  void at_every_cut(Operation&& operation, Check&& check) {
    fault_proxy network{net::unix_endpoint{server().socket()}};
    const client redis{network.url(), impatient()};
    int times = 0;
    const auto once = [&] {
      operation(redis);
      check(++times);
    };
    once();  // the server learns the script
    const auto request = network.forwarded(toward::server);
    const auto reply = network.forwarded(toward::client);
    once();
    constexpr std::size_t longer_numbers = 8;
    const auto most_sent = network.forwarded(toward::server) - request + longer_numbers;
    const auto most_read = network.forwarded(toward::client) - reply + longer_numbers;
    ASSERT_GT(most_sent, 100U);
    std::size_t cuts = 0;
    const auto cut_each = [&](toward where, std::size_t most, cut how) {
      for (std::size_t bytes = 0; bytes <= most; ++bytes) {
        SCOPED_TRACE((where == toward::server ? "request " : "reply ") + std::to_string(bytes));
        network.cut_after(where, bytes, how);
        once();
        network.heal();
        ++cuts;
      }
    };
    cut_each(toward::server, most_sent, cut::close);
    cut_each(toward::client, most_read, cut::close);
    cut_each(toward::client, most_read, cut::reset);
    EXPECT_GT(network.cuts(), cuts * 8 / 10) << "the connection was hardly ever cut";
  }

 private:
  std::optional<private_server> server_;
};
HOLDFAST_ON_EACH_SERVER(Once);

TEST_P(Once, EachAddCountsOnce) {
  std::int64_t told = 0;
  at_every_cut(
      [&](const client& redis) { told = redis.counter("hits").add(); },
      [&](int times) {
        ASSERT_EQ(told, times);
        ASSERT_EQ(server().command({"GET", "hf:counter:{hits}"}).text, std::to_string(times));
      });
}

TEST_P(Once, EachCountOfRedissonsLatchCountsOnce) {
  constexpr std::uint32_t whole = 50'000;
  server().command({"SET", "ready", std::to_string(whole)});
  std::uint32_t told = 0;
  at_every_cut(
      [&](const client& redis) { told = redis.latch("ready", dialect::redisson()).count_down(); },
      [&](int times) {
        ASSERT_EQ(told, whole - static_cast<std::uint32_t>(times));
        ASSERT_EQ(server().command({"GET", "ready"}).text, std::to_string(told));
      });
}

TEST_P(Once, EachUpdateCountsOnce) {
  std::int64_t told = 0;
  at_every_cut(
      [&](const client& redis) { told = redis.counter("hits").update("return value + 1"); },
      [&](int times) { ASSERT_EQ(told, times); });
}

TEST_P(Once, EachSwapSucceedsOnce) {
  std::int64_t value = 0;
  at_every_cut(
      [&](const client& redis) {
        const auto swapped = redis.counter("turn").compare_and_set(value, value + 1);
        ASSERT_TRUE(swapped);
        value = swapped.value;
      },
      [&](int times) { ASSERT_EQ(value, times); });
}

TEST_P(Once, EachFencedWriteIsDoneOnce) {
  const fencing_token token{4096};
  std::optional<std::string> told;
  at_every_cut(
      [&](const client& redis) {
        told = redis.fenced_eval("return redis.call('INCR', KEYS[1])", {"n"}, {}, token).value;
      },
      [&](int times) { ASSERT_EQ(told, std::to_string(times)); });
}

// The permits that are left show in how long the next one would have to wait.
TEST_P(Once, EachPermitIsTakenOnce) {
  const rate_limit slow{.rate = 0.01, .burst = 3000};
  at_every_cut(
      [&](const client& redis) { ASSERT_TRUE(redis.rate_limiter("calls", slow).try_acquire()); },
      [&](int times) {
        const auto left = static_cast<std::uint32_t>(3000 - times);
        const client direct{server().url()};
        const auto more = direct.rate_limiter("calls", slow).try_acquire(left + 1);
        ASSERT_FALSE(more);
        ASSERT_LE(more.wait, 100s) << "one too many was taken";
        ASSERT_GT(more.wait, 0s);
      });
}

TEST_P(Once, NoIdIsSkippedOrGivenTwice) {
  std::optional<id_generator> ids;
  std::int64_t id = 0;
  at_every_cut(
      [&](const client& redis) {
        if (!ids) ids = redis.id_generator("orders", {.block = 1});
        id = ids->next();
      },
      [&](int times) { ASSERT_EQ(id, times); });
}

// As when the network holds a request back for longer than its sender waits.
TEST_P(Once, NothingCountsOnceTheCallerWasToldThatItFailed) {
  fault_proxy network{net::unix_endpoint{server().socket()}};
  const client redis{network.url(), impatient()};
  const auto hits = redis.counter("hits");
  hits.add();
  network.stall(toward::server);
  try {
    hits.add();
    FAIL() << "nothing was thrown";
  } catch (const failure& why) {
    EXPECT_EQ(why.reason(), errc::unavailable);
    EXPECT_THAT(why.what(), ::testing::HasSubstr("may have been executed"));
  }
  network.heal();
  hits.add();
  EXPECT_EQ(server().command({"GET", "hf:counter:{hits}"}).text, "2");
}

// A call that gave up does not take its permits afterwards.
TEST_P(Once, NoPermitIsTakenAfterTheTimeout) {
  const rate_limit slow{.rate = 0.01, .burst = 10};
  fault_proxy network{net::unix_endpoint{server().socket()}};
  const client redis{network.url(), patient()}, direct{server().url()};
  const auto calls = redis.rate_limiter("calls", slow);
  calls.acquire();
  const auto scripts = [&] { return server().calls("evalsha") + server().calls("eval"); };
  const auto before = scripts();
  network.stall(toward::server);
  try {
    calls.acquire(3, {.timeout = 50ms});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const failure& why) {
    EXPECT_EQ(why.reason(), errc::timed_out);
    EXPECT_THAT(why.what(), ::testing::HasSubstr("may have been executed"));
  }
  network.heal();
  EXPECT_TRUE(eventually([&] { return scripts() > before; })) << "the request never came";
  EXPECT_TRUE(direct.rate_limiter("calls", slow).try_acquire(9));
}

// It waited for the connection, which comes when nobody waits any more.
TEST_P(Once, WhatWasCalledOffBeforeItWasSentIsNeverSent) {
  const rate_limit slow{.rate = 0.01, .burst = 10};
  fault_proxy network{net::unix_endpoint{server().socket()}};
  network.stall(toward::server);
  const client redis{network.url(), patient()}, direct{server().url()};
  const auto calls = redis.rate_limiter("calls", slow);
  std::stop_source stop;
  std::jthread stops([&] {
    (void)eventually([&] { return network.connections() > 0; });
    stop.request_stop();
  });
  try {
    calls.acquire(3, {.timeout = 1h}, stop.get_token());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const failure& why) {
    EXPECT_EQ(why.reason(), errc::cancelled);
    EXPECT_THAT(why.what(), ::testing::Not(::testing::HasSubstr("may have been executed")));
  }
  network.heal();
  EXPECT_EQ(redis.counter("hits").add(), 1);  // behind it
  EXPECT_TRUE(direct.rate_limiter("calls", slow).try_acquire(10));
}

TEST_P(Once, TheSameRequestIsSentAgainWhenTheServerIsSilent) {
  fault_proxy network{net::unix_endpoint{server().socket()}};
  const client redis{network.url(), impatient()};
  const auto hits = redis.counter("hits");
  hits.add();
  network.swallow(toward::client);
  std::int64_t told = 0;
  std::thread adds{[&] { told = hits.add(); }};
  EXPECT_TRUE(eventually([&] {
    return server().command({"GET", "hf:counter:{hits}"}).text == "2";
  }));
  network.heal();
  adds.join();
  EXPECT_EQ(told, 2);
  EXPECT_EQ(hits.get(), 2);
}

// An operator's command has no id, but it does nothing when the holder that it concerned is gone.
class OperatorWhoIsLate : public Once {
 protected:
  void SetUp() override {
    Once::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) slow_.emplace(start());
  }
  private_server& slow() { return *slow_; }
  static client_options far() {
    auto options = impatient();
    options.response_timeout = 2500ms;
    return options;
  }
  std::int64_t scripts() { return slow().calls("evalsha") + slow().calls("eval"); }

  // The server is frozen and does not answer the operation; when it thaws, the copy comes.
  template <typename Operation>
  void comes_late(Operation&& operation) {
    const auto before = scripts();
    slow().freeze();
    try {
      operation();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const failure& why) {
      EXPECT_EQ(why.reason(), errc::unavailable);
      EXPECT_THAT(why.what(), ::testing::HasSubstr("may have been executed"));
    }
    slow().thaw();
    EXPECT_TRUE(eventually([&] { return scripts() > before; })) << "the copy never came";
  }

 private:
  std::optional<private_server> slow_;
};
HOLDFAST_ON_EACH_SERVER(OperatorWhoIsLate);

TEST_P(OperatorWhoIsLate, SetsNoPermits) {
  const client redis{slow().url(), impatient()};
  const auto seats = redis.semaphore("seats");
  seats.set_permits(3);  // the server learns the script
  comes_late([&] { seats.set_permits(5); });
  EXPECT_EQ(slow().command({"GET", "hf:{seats}:n"}).text, "3");
}

TEST_P(OperatorWhoIsLate, BreaksNoLock) {
  fault_proxy network{net::unix_endpoint{slow().socket()}};
  const inspector look{client{network.url(), far()}};
  look.break_lock("another", "a test");  // the server learns the scripts
  const client redis{slow().url()};
  const auto later = redis.mutex("a").acquire();
  (void)look.status("a");  // and that which looks up a holder
  network.delay(toward::server, 1s);
  const auto looked_up = slow().calls("hget");
  auto breaks = std::async(std::launch::async, [&] { look.break_lock("a", "a test"); });
  // The holder has been looked up, and the break is under way for a second.
  ASSERT_TRUE(eventually([&] { return slow().calls("hget") > looked_up; }));
  comes_late([&] { breaks.get(); });
  EXPECT_EQ(inspector{redis}.status("a").token, later.token());
  EXPECT_EQ(slow().command({"XLEN", "hf:audit"}).number, 0);
}

// The server finds every request late; a new not-after is found from what it says of its time.
TEST_P(Once, AServerWhoseClockJumpsForwardIsAskedAgain) {
  support::clock_shim clock;
  const auto jumping = start({.environment = clock.environment()});
  const client redis{jumping.url(), impatient()};
  const auto hits = redis.counter("hits");
  for (std::int64_t i = 1; i <= 5; ++i) {
    EXPECT_EQ(hits.add(), i);
    clock.set(i * 60s);
  }
  clock.set(0s);
  EXPECT_EQ(hits.add(), 6);
  // And an operator's command.
  redis.semaphore("seats").set_permits(3);
  clock.set(60s);
  redis.semaphore("seats").set_permits(4);
  EXPECT_EQ(jumping.command({"GET", "hf:{seats}:n"}).text, "4");
  clock.set(120s);
  EXPECT_EQ(inspector{redis}.break_lock("a", "a test").state, lock_state::free);
}

}  // namespace
}  // namespace holdfast::faults
