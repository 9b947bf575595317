// The server's wall clock steps while locks are held and asked for.
#include "faults/faulty_server.hpp"
#include "support/clock_shim.hpp"

namespace holdfast::faults {
namespace {

class ClockStep : public fault_test {
 protected:
  private_server start() const { return fault_test::start({.environment = clock_.environment()}); }
  // A client that asks once gets it, whatever the clock did.
  static fencing_token token_now(const client& redis, const std::string& name) {
    const auto got = redis.mutex(name).try_acquire();
    EXPECT_TRUE(got) << why_not(got);
    return got ? got->token() : fencing_token{};
  }

  support::clock_shim clock_;
};
HOLDFAST_ON_EACH_SERVER(ClockStep);

TEST_P(ClockStep, ForwardIsALossAtTheNextRenewal) {
  const auto server = start();
  const client redis{server.url()};
  auto held = redis.mutex("a", {.lease = 6s}).acquire();
  const auto lost = held.lost();
  const auto deadline = net::now() + held.remaining();
  clock_.set(60s);
  const client other{server.url()};
  const auto taken = other.mutex("a").try_acquire({.timeout = support::generous});
  ASSERT_TRUE(taken) << why_not(taken);
  EXPECT_GT(taken->token(), held.token());
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_LT(net::now(), deadline) << "the renewal at a third of the lease must tell";
  EXPECT_FALSE(held.held());
  expect_failure(held.release(), errc::lost, "the lease ended");
  EXPECT_TRUE(taken->held());
}

TEST_P(ClockStep, BackwardIsNoLoss) {
  clock_.set(600s);
  const auto server = start();
  const client redis{server.url()};
  auto held = redis.mutex("a", {.lease = 900ms}).acquire();
  const auto first_deadline = net::now() + held.remaining();
  clock_.set(0s);
  EXPECT_TRUE(eventually([&] { return net::now() > first_deadline; }));
  EXPECT_TRUE(held.held());
  expect_failure(redis.mutex("a").try_acquire(), errc::busy, "");
  EXPECT_TRUE(held.release());
  EXPECT_GT(token_now(redis, "a"), held.token());
}

// While the clock is behind, the server says that more is left than anybody asked for: it takes
// that back as soon as its clock is right again.
TEST_P(ClockStep, AHolderBelievesNoLongerThanItAskedFor) {
  const auto server = start();
  const client redis{server.url()};
  struct one {
    const char* what;
    std::chrono::milliseconds asked;
    lease held;
  };
  std::vector<one> all;
  const auto add = [&all](const char* what, std::chrono::milliseconds asked, const lock& from) {
    all.push_back({what, asked, from.acquire()});
  };
  add("mutex", 6s, redis.mutex("a", {.lease = 6s}));
  add("semaphore", 6s, redis.semaphore("b", {.permits = 2, .lease = 6s}));
  add("redisson", 6s, redis.mutex("c", {.lease = 6s}, dialect::redisson()));
  add("redis-py", 6s, redis.mutex("d", {.lease = 6s}, dialect::redis_py()));
  add("redlock-rs", 6s, redis.mutex("e", {.lease = 6s}, dialect::redlock()));
  const auto both = redis.read_write_lock("f", {.lease = 6s});
  const auto writer = both.exclusive().acquire();
  auto extended = redis.mutex("g", {.lease = 6s}).acquire();
  ASSERT_TRUE(extended.extend(20s));
  clock_.set(-3600s);
  ASSERT_TRUE(extended.extend(25s));
  add("downgrade", 6s, both.downgrade(writer));
  all.push_back({"extended", 25s, std::move(extended)});
  // Of each at least one renewal is answered in this time.
  const auto end = net::now() + 3s;
  const auto is_over = [&] {
    for (const auto& [what, asked, held] : all) {
      EXPECT_TRUE(held.held()) << what;
      EXPECT_LE(held.remaining(), asked) << what;
    }
    return HasFailure() || net::now() >= end;
  };
  EXPECT_TRUE(eventually(is_over));
}

TEST_P(ClockStep, TokensGrowAndEverybodyGoesOn) {
  const auto server = start();
  const client known{server.url()};
  auto last = token_now(known, "a");
  const auto grows = [&](const client& redis, const char* who) {
    const auto next = token_now(redis, "a");
    EXPECT_GT(next, last) << who;
    last = std::max(last, next);
    EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", value_key("a")}).number == 0; }));
  };
  for (const auto step : {60s, -540s, -1140s, 0s, 3600s, 0s}) {
    clock_.set(step);
    grows(known, "a client that knows the time before the step");
    grows(client{server.url()}, "a client that comes after it");
    grows(known, "the same again");
  }
}

TEST_P(ClockStep, ExtensionAndRenewalLearnTheNewTime) {
  const auto server = start();
  const client redis{server.url()};
  auto held = redis.mutex("a", {.lease = 20h}).acquire();
  for (const auto step : {3600s, 7200s, 0s}) {
    clock_.set(step);
    const auto extended = held.extend(20h);
    EXPECT_TRUE(extended) << why_not(extended);
  }
  EXPECT_TRUE(held.release());
}

}  // namespace
}  // namespace holdfast::faults
