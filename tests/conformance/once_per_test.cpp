// Jobs that run once per interval: which call begins a run, and which finds that there was one.
#include <future>
#include <stdexcept>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/clock_shim.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::seconds;

// On a server whose clock the tests set.
class OncePer : public support::server_test {
 protected:
  void SetUp() override {
    support::server_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    server_.emplace(start({.environment = clock_.environment()}));
    one_.emplace(server_->url());
    other_.emplace(server_->url());
  }

  const private_server& server() const { return *server_; }
  const client& one() const { return *one_; }
  const client& other() const { return *other_; }
  void set_clock(nanoseconds ahead) { clock_.set(ahead, *server_); }

  // One hour long; the next begins in so many seconds by the server's clock.
  once_per_options hourly(seconds until_next = 1800s, run_again again = run_again::never) const {
    const seconds now{std::stoll(server().command({"TIME"}).items.at(0).text)};
    return {.interval = 1h, .offset = (now + until_next) % 1h, .run_again = again};
  }
  bool runs(const client& host, const once_per_options& options) const {
    return call_once(host.once_per("report", options), [] {});
  }
  std::string record() const { return server().command({"GET", "hf:run:{report}"}).text; }

 private:
  support::clock_shim clock_;
  std::optional<private_server> server_;
  std::optional<client> one_, other_;
};
HOLDFAST_ON_EACH_SERVER(OncePer);

TEST_P(OncePer, OneHostRunsInEachInterval) {
  const auto options = hourly(10s);
  EXPECT_TRUE(runs(one(), options));
  EXPECT_FALSE(runs(other(), options));
  EXPECT_FALSE(runs(one(), options));
  set_clock(15s);
  EXPECT_TRUE(runs(other(), options)) << "the next interval";
  set_clock(3600s);
  EXPECT_FALSE(runs(one(), options)) << "the same";
  set_clock(3615s);
  EXPECT_TRUE(runs(one(), options));
}

TEST_P(OncePer, SaysWhyItDoesNotRun) {
  const auto report = one().once_per("report", hourly());
  EXPECT_EQ(report.name(), "report");
  auto run = report.try_begin();
  ASSERT_TRUE(run) << run.error().what();
  EXPECT_TRUE(run->token());
  auto refused = other().once_per("report", hourly()).try_begin();
  expect_reason(refused, errc::has_run);
  EXPECT_THAT(refused.error().what(), testing::HasSubstr("'report' began"));
  EXPECT_THAT(refused.error().what(), testing::HasSubstr("has not ended"));
  EXPECT_TRUE(report.finish(*run, run_end::succeeded));
  refused = other().once_per("report", hourly()).try_begin();
  expect_reason(refused, errc::has_run);
  EXPECT_THAT(refused.error().what(), testing::HasSubstr("succeeded"));
}

// The whole table of what a second host finds in the same interval.
enum class earlier : std::uint8_t { runs, succeeded, failed, not_started, died };

struct outcome {
  run_again again;
  earlier run;
  std::optional<errc> found;  // nothing: it runs
};

TEST_P(OncePer, WhatASecondHostFinds) {
  constexpr auto has_run = errc::has_run;
  const std::vector<outcome> table = {
      {run_again::never, earlier::runs, has_run},
      {run_again::never, earlier::succeeded, has_run},
      {run_again::never, earlier::failed, has_run},
      {run_again::never, earlier::not_started, {}},
      {run_again::never, earlier::died, has_run},
      {run_again::failed, earlier::runs, errc::busy},
      {run_again::failed, earlier::succeeded, has_run},
      {run_again::failed, earlier::failed, {}},
      {run_again::failed, earlier::not_started, {}},
      {run_again::failed, earlier::died, has_run},
      {run_again::lost, earlier::runs, errc::busy},
      {run_again::lost, earlier::succeeded, has_run},
      {run_again::lost, earlier::failed, {}},
      {run_again::lost, earlier::not_started, {}},
      {run_again::lost, earlier::died, {}},
  };
  int row = 0;
  for (const auto& [again, how, found] : table) {
    SCOPED_TRACE(row);
    const auto name = "report " + std::to_string(row++);
    const auto job = one().once_per(name, hourly(1800s, again));
    auto run = std::make_unique<lease>(job.try_begin().value());
    if (how == earlier::succeeded) job.finish(*run, run_end::succeeded).value();
    if (how == earlier::failed) job.finish(*run, run_end::failed).value();
    if (how == earlier::not_started) job.finish(*run, run_end::not_started).value();
    if (how == earlier::died) run.reset();  // nobody says how it ended
    auto second = other().once_per(name, hourly(1800s, again)).try_begin();
    // A lock that is released without waiting may still be held for a moment.
    if (how == earlier::died && !second && second.error().reason() == errc::busy) {
      second = other().once_per(name, hourly(1800s, again)).try_begin({.timeout = generous});
    }
    if (found) {
      expect_reason(second, *found);
    } else {
      EXPECT_TRUE(second) << second.error().what();
    }
  }
}

// A run that was never started leaves what it found.
TEST_P(OncePer, ARunThatIsNotStartedBringsTheEarlierOneBack) {
  const auto job = one().once_per("report", hourly());
  auto run = job.try_begin();
  ASSERT_TRUE(run);
  EXPECT_TRUE(job.finish(*run, run_end::failed));
  const auto again = other().once_per("report", hourly(1800s, run_again::failed));
  for (int i = 0; i < 3; ++i) {
    auto second = again.try_begin();
    ASSERT_TRUE(second) << second.error().what();
    EXPECT_TRUE(again.finish(*second, run_end::not_started));
    expect_reason(job.try_begin(), errc::has_run);
  }
  EXPECT_THAT(record(), testing::HasSubstr(" failed "));
  run = again.try_begin();
  ASSERT_TRUE(run);
  EXPECT_TRUE(again.finish(*run, run_end::succeeded));
  expect_reason(again.try_begin(), errc::has_run);
}

TEST_P(OncePer, NoOtherRunBeginsForAtLeastSoLong) {
  const once_per_options often{.at_least_for = 50s};
  EXPECT_TRUE(runs(one(), often));
  set_clock(45s);
  EXPECT_FALSE(runs(other(), often));
  set_clock(55s);
  EXPECT_TRUE(runs(other(), often));
  auto options = hourly(10s);
  options.at_least_for = 50s;
  set_clock(70s);
  EXPECT_FALSE(runs(one(), options)) << "another interval, but too soon";
  set_clock(120s);
  EXPECT_TRUE(runs(one(), options));
}

TEST_P(OncePer, ARunThatMayBeRepeatedIsTheExceptionFromAtLeastSoLong) {
  const once_per_options often{.at_least_for = 50s, .run_again = run_again::failed};
  const auto job = one().once_per("report", often);
  auto run = job.try_begin();
  ASSERT_TRUE(run);
  EXPECT_TRUE(job.finish(*run, run_end::failed));
  EXPECT_TRUE(runs(other(), often));
  EXPECT_FALSE(runs(one(), often)) << "it has succeeded";
}

// While the job runs, the interval ends. That run counts for a host that has waited for its end.
TEST_P(OncePer, ARunThatBeginsWhileAnotherWaitsCountsForBoth) {
  for (const auto how : {run_end::succeeded, run_end::failed}) {
    set_clock(0s);
    const auto options = hourly(10s, run_again::failed);
    const auto name = how == run_end::succeeded ? "done" : "failed";
    const auto job = one().once_per(name, options);
    auto run = job.try_begin();
    ASSERT_TRUE(run);
    auto waiting = std::async(std::launch::async, [&] {
      return other().once_per(name, options).try_begin({.timeout = generous});
    });
    ASSERT_TRUE(eventually([&] { return inspector{one()}.status(name).waiting == 1; }));
    set_clock(12s);
    job.finish(*run, how).value();
    auto second = waiting.get();
    EXPECT_EQ(second.has_value(), how == run_end::failed);
    if (second) continue;
    EXPECT_EQ(second.error().reason(), errc::has_run) << second.error().what();
    EXPECT_TRUE(other().once_per(name, options).try_begin()) << "asked in the new interval";
  }
}

TEST_P(OncePer, AClockThatStepsBackLetsNobodyRunAgain) {
  const auto options = hourly(10s);
  set_clock(20s);
  EXPECT_TRUE(runs(one(), options));
  set_clock(-1800s);
  EXPECT_FALSE(runs(other(), options));
  // The interval is over, the record is not.
  set_clock(20s + 3600s);
  EXPECT_THAT(record(), testing::HasSubstr(" succeeded "));
  set_clock(30s);
  EXPECT_FALSE(runs(other(), options));
}

// The lock's holder keeps a host waiting that asked in the next interval; then the clock is back in
// the one that has had its run.
TEST_P(OncePer, AClockThatStepsBackWhileAHostWaitsLetsItNotRunAgain) {
  const auto options = hourly(10s);
  EXPECT_TRUE(runs(one(), options));
  set_clock(15s);
  auto held = one().mutex("report").acquire();
  auto waiting = std::async(std::launch::async, [&] {
    return other().once_per("report", options).try_begin({.timeout = generous});
  });
  ASSERT_TRUE(eventually([&] { return inspector{one()}.status("report").waiting == 1; }));
  set_clock(0s);
  EXPECT_TRUE(held.release());
  expect_reason(waiting.get(), errc::has_run);
}

TEST_P(OncePer, TheRecordEndsWithTheNextInterval) {
  EXPECT_TRUE(runs(one(), hourly(1800s)));
  EXPECT_THAT(record(), testing::HasSubstr(" succeeded "));
  const auto left = server().command({"PTTL", "hf:run:{report}"}).number;
  EXPECT_GT(left, 5300'000);
  EXPECT_LE(left, 5400'000);
}

TEST_P(OncePer, WaitsForTheLockOfAnEarlierIntervalAndCanBeStopped) {
  const auto held = one().mutex("report").acquire();
  const auto report = other().once_per("report", hourly());
  expect_reason(report.try_begin(), errc::busy);
  expect_reason(report.try_begin({.timeout = 20ms}), errc::timed_out);
  std::stop_source stop;
  stop.request_stop();
  expect_reason(report.try_begin({.timeout = forever}, stop.get_token()), errc::cancelled);
  EXPECT_EQ(thrown_by([&] { (void)report.begin({.timeout = 20ms}); }).reason(), errc::timed_out);
  EXPECT_EQ(thrown_by([&] { (void)report.try_begin({.timeout = -1ms}); }).reason(),
            errc::invalid_argument);
  EXPECT_EQ(record(), "") << "none of them took the interval";
}

// As when two hosts ask at the same moment: the one that does not get the lock does not wait for
// the end of the run.
TEST_P(OncePer, AWaiterHearsOfARunThatHasBegunMeanwhile) {
  auto held = one().mutex("report").acquire();
  auto waiting = std::async(std::launch::async, [&] {
    return other().once_per("report", hourly()).try_begin({.timeout = forever});
  });
  ASSERT_TRUE(eventually([&] { return inspector{one()}.status("report").waiting == 1; }));
  const auto now = server().command({"TIME"}).items;
  const auto micros = std::string(6 - now.at(1).text.size(), '0') + now.at(1).text;
  server().command({"SET", "hf:run:{report}", now.at(0).text + micros + " running 1"});
  EXPECT_EQ(waiting.wait_for(generous), std::future_status::ready);
  EXPECT_TRUE(held.release());
  expect_reason(waiting.get(), errc::has_run);
}

// Others come and go before it; it keeps its place in the queue.
TEST_P(OncePer, AWaiterIsNotOvertaken) {
  auto held = one().mutex("report").acquire();
  auto waiting = std::async(std::launch::async, [&] {
    auto run = other().once_per("report", hourly()).try_begin({.timeout = generous});
    return run.has_value();
  });
  const auto waits = [&](std::uint32_t how_many) {
    return eventually([&] { return inspector{one()}.status("report").waiting == how_many; });
  };
  ASSERT_TRUE(waits(1));
  const client late{server().url()};
  auto behind = std::async(std::launch::async, [&] { return late.mutex("report").acquire(); });
  ASSERT_TRUE(waits(2));
  // So long that it looks some times.
  const auto before = server().calls("evalsha");
  ASSERT_TRUE(eventually([&] { return server().calls("evalsha") > before + 4; }));
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(waiting.get());
  (void)behind.get();
}

TEST_P(OncePer, AWaiterOutlivesAServerThatIsAway) {
  auto own = start();
  client_options impatient;
  impatient.connect_timeout = impatient.response_timeout = 200ms;
  const client redis{own.url(), impatient};
  const client holder{own.url()};
  const auto held = holder.mutex("report", {.lease = 2s}).acquire();
  auto waiting = std::async(std::launch::async, [&] {
    return redis.once_per("report", {.interval = 8784h}).try_begin({.timeout = generous});
  });
  ASSERT_TRUE(eventually([&] { return inspector{holder}.status("report").waiting == 1; }));
  own.kill9();
  // So long that a look fails.
  ASSERT_TRUE(eventually([&] { return !held.held(); }));
  own.restart();
  const auto run = waiting.get();
  EXPECT_TRUE(run) << (run ? "" : run.error().what());
}

// Somebody has broken its lock, and says so only at the next renewal.
TEST_P(OncePer, ALateRunDoesNotOverwriteTheRecordOfAnother) {
  const auto job = one().once_per("report", hourly(1800s, run_again::lost));
  auto late = job.try_begin();
  ASSERT_TRUE(late);
  inspector{other()}.break_lock("report", "a test");
  const auto next = other().once_per("report", hourly(1800s, run_again::lost));
  auto run = next.try_begin();
  ASSERT_TRUE(run) << run.error().what();
  const auto before = record();
  expect_reason(job.finish(*late, run_end::not_started), errc::lost);
  EXPECT_EQ(record(), before);
  EXPECT_TRUE(next.finish(*run, run_end::failed));
  EXPECT_THAT(record(), testing::HasSubstr(" failed "));
}

TEST_P(OncePer, HowALostRunEndedIsRecordedWhereNobodyElseHasBegun) {
  const auto job = one().once_per("report", hourly(1800s, run_again::lost));
  auto run = job.try_begin();
  ASSERT_TRUE(run);
  inspector{other()}.break_lock("report", "a test");
  expect_reason(job.finish(*run, run_end::succeeded), errc::lost);
  EXPECT_FALSE(runs(other(), hourly(1800s, run_again::lost)));
}

TEST_P(OncePer, ARunWhoseRecordIsGoneHasNotLostItsLock) {
  const auto job = one().once_per("report", hourly());
  auto run = job.try_begin();
  ASSERT_TRUE(run);
  server().command({"DEL", "hf:run:{report}"});
  expect_reason(job.finish(*run, run_end::succeeded), errc::server_error);
  EXPECT_TRUE(call_once(job, [&] { server().command({"DEL", "hf:run:{report}"}); }));
}

TEST_P(OncePer, AnEndMayBeToldTwice) {
  const auto job = one().once_per("report", hourly());
  auto run = job.try_begin();
  ASSERT_TRUE(run);
  EXPECT_TRUE(job.finish(*run, run_end::succeeded));
  EXPECT_TRUE(job.finish(*run, run_end::succeeded));
}

TEST_P(OncePer, AWorkThatThrowsHasFailed) {
  const auto options = hourly(1800s, run_again::failed);
  const auto broken = [] { throw std::runtime_error("no space left"); };
  EXPECT_THROW(call_once(one().once_per("report", options), broken), std::runtime_error);
  int called = 0;
  EXPECT_TRUE(call_once(other().once_per("report", options),
                        [&](const lease& run) { called += run.held() ? 1 : 0; }));
  EXPECT_EQ(called, 1);
  EXPECT_FALSE(runs(one(), options));
}

TEST_P(OncePer, WorkThatLosesItsLockIsToldSo) {
  const auto job = one().once_per("report", hourly());
  const auto loses = [&] { inspector{other()}.break_lock("report", "a test"); };
  EXPECT_EQ(thrown_by([&] { call_once(job, loses); }).reason(), errc::lost);
}

TEST_P(OncePer, CostsFiveCommandsAndOneWhereItHasRun) {
  const auto scripts = [&] { return server().calls("evalsha"); };
  EXPECT_TRUE(call_once(one().once_per("first", hourly()), [] {}));
  const auto job = one().once_per("second", hourly());
  const auto before = scripts();
  EXPECT_TRUE(call_once(job, [] {}));
  EXPECT_EQ(scripts() - before, 5);
  EXPECT_FALSE(call_once(job, [] {}));
  EXPECT_EQ(scripts() - before, 6);
}

TEST_P(OncePer, RefusesWhatItCannotDo) {
  const auto why = [&](const once_per_options& options, const dialect& how = {}) {
    return thrown_by([&] { (void)one().once_per("report", options, how); }).reason();
  };
  constexpr auto wrong = errc::invalid_argument;
  EXPECT_EQ(why({}), wrong);
  EXPECT_EQ(why({.interval = 99ms}), wrong);
  EXPECT_EQ(why({.interval = 367 * 24h}), wrong);
  EXPECT_EQ(why({.interval = -1h}), wrong);
  EXPECT_EQ(why({.interval = 1h, .offset = 1h}), wrong);
  EXPECT_EQ(why({.interval = 1h, .offset = -1s}), wrong);
  EXPECT_EQ(why({.offset = 1s, .at_least_for = 1h}), wrong);
  EXPECT_EQ(why({.at_least_for = -1s}), wrong);
  EXPECT_EQ(why({.interval = 1h, .lease = 1ms}), wrong);
  EXPECT_EQ(why({.interval = 1h}, dialect::shedlock()), errc::unsupported);
  EXPECT_EQ(why({.at_least_for = 1s, .run_again = run_again::failed}, dialect::shedlock()),
            errc::unsupported);
  EXPECT_EQ(why({}, dialect::shedlock()), wrong);
  EXPECT_EQ(why({.at_least_for = 2s, .lease = 1s}, dialect::shedlock()), wrong);
  EXPECT_EQ(why({.at_least_for = 1s}, dialect::redisson()), errc::unsupported);
  const client here{"memory:"};
  EXPECT_EQ(thrown_by([&] { (void)here.once_per("report", {.interval = 1h}); }).reason(),
            errc::unsupported);
  EXPECT_EQ(thrown_by([&] { (void)one().once_per("", {.interval = 1h}); }).reason(),
            errc::invalid_name);
  server().command({"SET", "hf:run:{report}", "mine"});
  expect_reason(one().once_per("report", {.interval = 1h}).try_begin(), errc::foreign_key);
  EXPECT_EQ(record(), "mine");
}

// The key stays for `at_least_for`, so that hosts with ShedLock leave the job out as well.
TEST_P(OncePer, AsShedLockWritesItTheLockStays) {
  const once_per_options options{.at_least_for = 50s};
  const auto key = std::string{"job-lock:default:report"};
  const auto left = [&] { return server().command({"PTTL", key}).number; };
  const auto job = one().once_per("report", options, dialect::shedlock());
  auto run = job.try_begin();
  ASSERT_TRUE(run) << run.error().what();
  EXPECT_GT(left(), 49'000) << "the lease is as long at least";
  const auto rival = other().once_per("report", options, dialect::shedlock());
  expect_reason(rival.try_begin({.timeout = forever}), errc::has_run);
  EXPECT_TRUE(job.finish(*run, run_end::succeeded));
  EXPECT_GT(left(), 40'000);
  EXPECT_LE(left(), 50'000);
  set_clock(45s);
  EXPECT_FALSE(call_once(rival, [] {}));
  set_clock(55s);
  EXPECT_TRUE(call_once(rival, [] {}));
}

}  // namespace
}  // namespace holdfast::conformance
