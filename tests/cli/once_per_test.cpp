// holdfast run --once-per, --at-least-for and --at-most-for.
#include <csignal>

#include "cli/program.hpp"
#include "net/clock.hpp"
#include "support/clock_shim.hpp"
#include "support/forked.hpp"

namespace holdfast::cli_tests {
namespace {

using namespace std::chrono_literals;

HOLDFAST_ON_EACH_SERVER(CommandLine);

words once_per(const std::string& interval, words options, const words& command) {
  words all = {"run", "--once-per", interval};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), {"a", "--"});
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

words yearly(words options, const words& command) {
  return once_per("8784h", std::move(options), command);
}

TEST_P(CommandLine, RunsOnceInAnIntervalAndSaysSoByAnExitCode) {
  const auto server = start();
  const auto first = holdfast_at(server, yearly({}, {"sh", "-c", "echo $HOLDFAST_TOKEN"}));
  EXPECT_EQ(first.how, exited(0)) << first.errors;
  EXPECT_GT(std::stoull(first.output), 0U);
  const auto second = holdfast_at(server, yearly({}, {"echo", "never"}));
  EXPECT_EQ(second.how, exited(79));
  EXPECT_THAT(second.output, IsEmpty());
  EXPECT_THAT(second.errors, IsEmpty()) << "cron would mail it";
  const auto silent = holdfast_at(server, yearly({"--has-run-exit-code", "0"}, {"echo", "never"}));
  EXPECT_EQ(silent.how, exited(0));
  EXPECT_THAT(silent.output, IsEmpty());
  auto as_json = yearly({}, {"echo", "never"});
  as_json.insert(as_json.begin(), "--json");
  EXPECT_THAT(holdfast_at(server, as_json).errors, HasSubstr("\"has_run\""));
}

// Two hosts' clocks are 30 s ahead and behind. All three ask in each interval.
TEST_P(CommandLine, HostsWhoseClocksDifferRunOnceInEachInterval) {
  support::clock_shim clock, early, late;
  early.set(30s);
  late.set(-30s);
  const auto server = start({.environment = clock.environment()});
  const auto now = std::stoll(server.command({"TIME"}).items.at(0).text);
  const auto interval = "60s@" + std::to_string((now - 7) % 60) + "s";
  const auto on_host = [&](const support::clock_shim& host) {
    auto asks = call_at(server, once_per(interval, {}, {"echo", "runs"}));
    const auto shim = host.environment();
    asks.environment.insert(asks.environment.end(), shim.begin(), shim.end());
    return support::run(asks);
  };
  for (int slot = 0; slot < 5; ++slot) {
    clock.set(slot * 60s, server);
    const auto first = on_host(clock);
    EXPECT_EQ(first.how, exited(0)) << first.errors;
    EXPECT_EQ(first.output, "runs\n");
    clock.set(slot * 60s + 30s, server);
    EXPECT_EQ(on_host(early).how, exited(79));
    EXPECT_EQ(on_host(late).how, exited(79));
  }
}

TEST_P(CommandLine, RunsAgainAfterAFailureOnlyIfToldSo) {
  const auto server = start();
  EXPECT_EQ(holdfast_at(server, yearly({}, {"sh", "-c", "exit 3"})).how, exited(3));
  EXPECT_EQ(holdfast_at(server, yearly({}, {"true"})).how, exited(79));
  const words again = {"--run-again", "failed"};
  EXPECT_EQ(holdfast_at(server, yearly(again, {"sh", "-c", "exit 3"})).how, exited(3));
  EXPECT_EQ(holdfast_at(server, yearly(again, {"true"})).how, exited(0));
  EXPECT_EQ(holdfast_at(server, yearly(again, {"true"})).how, exited(79));
}

TEST_P(CommandLine, AnEndThatIsNotRecordedIsTold) {
  const auto server = start();
  child_process job(call_at(server, yearly({}, {"sh", "-c", "echo in.; exec cat"})));
  ASSERT_TRUE(job.wait_for_output("in.")) << job.errors();
  server.command({"CONFIG", "SET", "maxmemory", "1"});
  job.close_input();
  EXPECT_EQ(job.wait(), exited(0));
  EXPECT_THAT(job.errors(), HasSubstr("the server has not recorded how the command ended"));
  server.command({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(holdfast_at(server, yearly({"--run-again", "lost"}, {"true"})).how, exited(0));
}

TEST_P(CommandLine, ACommandThatCannotBeStartedLeavesTheIntervalAsItWas) {
  const auto server = start();
  EXPECT_EQ(holdfast_at(server, yearly({}, {"/nowhere/backup"})).how, exited(127));
  EXPECT_EQ(holdfast_at(server, yearly({}, {"false"})).how, exited(1)) << "free";
  const words again = {"--run-again", "failed"};
  EXPECT_EQ(holdfast_at(server, yearly(again, {"/nowhere/backup"})).how, exited(127));
  EXPECT_EQ(holdfast_at(server, yearly({}, {"true"})).how, exited(79)) << "it has failed";
}

TEST_P(CommandLine, AKilledHostHasRunUnlessToldOtherwise) {
  const auto server = start();
  child_process host(
      call_at(server, yearly({"--lease", "500ms"}, {"sh", "-c", "echo in.; exec sleep 600"})));
  ASSERT_TRUE(host.wait_for_output("in."));
  EXPECT_EQ(holdfast_at(server, yearly({}, {"true"})).how, exited(79)) << "at once, while it runs";
  host.signal(SIGKILL);
  host.wait();
  EXPECT_EQ(holdfast_at(server, yearly({"--run-again", "failed"}, {"true"})).how, exited(79));
  EXPECT_EQ(holdfast_at(server, yearly({"--run-again", "lost"}, {"true"})).how, exited(0));
  EXPECT_EQ(holdfast_at(server, yearly({"--run-again", "lost"}, {"true"})).how, exited(79));
}

TEST_P(CommandLine, AtLeastForKeepsAnotherHostFromAShortJob) {
  support::clock_shim clock;
  const auto server = start({.environment = clock.environment()});
  const words job = {"run", "--at-least-for", "50s", "--at-most-for", "10m", "a", "--", "true"};
  EXPECT_EQ(holdfast_at(server, job).how, exited(0));
  clock.set(30s, server);
  EXPECT_EQ(holdfast_at(server, job).how, exited(79)) << "at once, and not when the 50 s are over";
  clock.set(55s, server);
  EXPECT_EQ(holdfast_at(server, job).how, exited(0));
}

TEST_P(CommandLine, AtLeastForAsShedLockWritesIt) {
  const auto server = start();
  const words job = {
      "run", "--dialect", "shedlock", "--at-least-for", "50s", "--at-most-for", "10m", "a",
      "--",  "sh",        "-c"};
  auto looks = job;
  looks.push_back("echo in.; exec cat");
  child_process host(call_at(server, looks));
  ASSERT_TRUE(host.wait_for_output("in.")) << host.errors();
  const auto left = [&] { return server.command({"PTTL", "job-lock:default:a"}).number; };
  EXPECT_GT(left(), 500'000) << "lockAtMostFor";
  auto quick = job;
  quick.push_back("true");
  EXPECT_EQ(holdfast_at(server, quick).how, exited(79)) << "it runs";
  host.close_input();
  EXPECT_EQ(host.wait(), exited(0));
  EXPECT_GT(left(), 30'000) << "lockAtLeastFor";
  EXPECT_LE(left(), 50'000);
  EXPECT_EQ(holdfast_at(server, quick).how, exited(79)) << "it has run";
}

TEST_P(CommandLine, AtMostForEndsTheCommand) {
  const auto server = start();
  const auto ended =
      holdfast_at(server, {"run", "--at-most-for", "100ms", "--grace", "100ms", "a", "--", "sh",
                           "-c", "trap '' TERM; sleep 600 & wait; wait"});
  EXPECT_EQ(ended.how, exited(124)) << ended.errors;
  EXPECT_THAT(ended.errors, HasSubstr("(--at-most-for); it is terminated"));
  EXPECT_EQ(holdfast_at(server, {"run", "--nonblock", "a", "--", "true"}).how, exited(0));
  // Such a run has failed.
  EXPECT_EQ(holdfast_at(server, yearly({"--at-most-for", "50ms"}, {"sleep", "600"})).how,
            exited(124));
  EXPECT_EQ(holdfast_at(server, yearly({"--run-again", "failed"}, {"true"})).how, exited(0));
}

// The program is frozen when the command ends, and finds both: the end, and that the time is over.
TEST_P(CommandLine, ACommandThatEndedInTimeHasNotRunForTooLong) {
  const auto server = start();
  const auto over = net::now() + 1s;
  child_process job(
      call_at(server, yearly({"--at-most-for", "1s"}, {"sh", "-c", "echo in.; exec cat"})));
  ASSERT_TRUE(job.wait_for_output("in.")) << job.errors();
  support::freeze(job.pid());
  job.close_input();
  ASSERT_TRUE(eventually([&] { return net::now() > over + 100ms; }));
  job.signal(SIGCONT);
  EXPECT_EQ(job.wait(), exited(0)) << job.errors();
  EXPECT_THAT(server.command({"GET", "hf:run:{a}"}).text, HasSubstr(" succeeded "));
}

TEST_P(CommandLine, ASignalThatEndsTheWaitingTakesNoInterval) {
  const auto server = start();
  const holder other(server, "a");
  child_process waits(call_at(server, yearly({}, {"true"})));
  ASSERT_TRUE(eventually([&] {
    return holdfast_at(server, {"status", "a", "--json"}).output.find("\"waiting\": 1") !=
           std::string::npos;
  }));
  waits.signal(SIGTERM);
  EXPECT_EQ(waits.wait(), exited(128 + SIGTERM));
  EXPECT_EQ(server.command({"EXISTS", "hf:run:{a}"}).number, 0);
}

struct refusal {
  words options;
  const char* why;
};

TEST(OncePerOptions, AreRefusedWithTheReason) {
  const std::vector<refusal> all = {
      {{"--once-per", "1"}, "expected INTERVAL"},
      {{"--once-per", "@1h"}, "expected INTERVAL"},
      {{"--once-per", "1h@"}, "expected INTERVAL"},
      {{"--once-per", "999ms"}, "1s to 8784h"},
      {{"--once-per", "1h@1h"}, "less than the interval"},
      {{"--at-least-for", "soon"}, "expected a duration"},
      {{"--at-least-for", "8785h"}, "must be 1ms to"},
      {{"--at-most-for", "0"}, "must be 1ms to"},
      {{"--run-again", "failed"}, "goes with --once-per"},
      {{"--has-run-exit-code", "0"}, "goes with --once-per"},
      {{"--once-per", "1h", "--run-again", "always"}, "--run-again"},
      {{"--once-per", "1h", "--shared"}, "goes with a plain mutex"},
      {{"--once-per", "1h", "--fair"}, "goes with a plain mutex"},
      {{"--once-per", "1h", "--member", "redis://a"}, "quorum"},
      {{"--once-per", "1h", "--dialect", "redisson"}, "only ShedLock"},
      {{"--once-per", "1h", "--dialect", "shedlock"}, "--at-least-for"},
      {{"--at-least-for", "1s", "--dialect", "shedlock", "--run-again", "lost"}, "how a run ended"},
  };
  for (const auto& [options, why] : all) {
    words line = {"run"};
    line.insert(line.end(), options.begin(), options.end());
    line.insert(line.end(), {"a", "--", "true"});
    const auto said = holdfast(line, {"HOLDFAST_URL=unix:///nowhere"});
    EXPECT_EQ(said.how, exited(64)) << why << said.errors;
    EXPECT_THAT(said.errors, HasSubstr(why));
  }
}

// The line that the program prints for this kind is enough to run it, from end to end.
TEST_P(CommandLine, RightsOfAclSufficeToRunOncePerInterval) {
  const auto server = start();
  const auto line = holdfast({"acl", "a", "--kind", "once per interval", "--user", "cron"});
  ASSERT_EQ(line.how, exited(0)) << line.errors;
  EXPECT_THAT(line.output, HasSubstr("~hf:run:{a} "));
  words rule;
  std::istringstream all(line.output);
  for (std::string word; all >> word;) {
    rule.push_back(word.starts_with("#") ? ">s3cret" : word);
  }
  ASSERT_EQ(server.command(rule).text, "OK");
  const words as_cron = {"HOLDFAST_URL=unix://" + server.socket(), "HOLDFAST_USER=cron",
                         "HOLDFAST_PASSWORD=s3cret"};
  EXPECT_EQ(holdfast(yearly({}, {"false"}), as_cron).how, exited(1));
  EXPECT_EQ(holdfast(yearly({"--run-again", "failed"}, {"true"}), as_cron).how, exited(0));
  EXPECT_EQ(holdfast(yearly({}, {"true"}), as_cron).how, exited(79));
}

}  // namespace
}  // namespace holdfast::cli_tests
