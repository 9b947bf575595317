// --dialect: locks of other libraries from the shell.
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

using namespace std::chrono_literals;

HOLDFAST_ON_EACH_SERVER(CommandLine);

TEST_P(CommandLine, RunsACommandUnderALockOfRedisson) {
  const auto server = start();
  const auto program = std::string(HOLDFAST_PROGRAM) + " --url " + server.url();
  const auto look = program + " status --dialect redisson --json nightly; echo $HOLDFAST_TOKEN";
  const auto run =
      holdfast_at(server, {"run", "--dialect", "redisson", "nightly", "--", "sh", "-c", look});
  EXPECT_EQ(run.how, exited(0)) << run.errors;
  EXPECT_THAT(run.output, HasSubstr("\"state\": \"held\""));
  EXPECT_THAT(run.output, HasSubstr("\"program\": \"holdfast\""));
  EXPECT_THAT(run.output, HasSubstr("none\n"));
  EXPECT_EQ(server.command({"EXISTS", "nightly"}).number, 0);
}

TEST_P(CommandLine, IsKeptOutByTheLibraryAndNamesItsHolder) {
  const auto server = start();
  server.command({"HSET", "nightly", "0f0e0d0c-0b0a-0908-0706-050403020100:77", "2"});
  const words refused = {"run", "--nonblock", "--dialect", "redisson", "nightly", "--", "true"};
  const auto run = holdfast_at(server, refused);
  EXPECT_EQ(run.how, exited(75));
  EXPECT_THAT(run.errors, HasSubstr("0f0e0d0c-0b0a-0908-0706-050403020100:77"));
  const auto status = holdfast_at(server, {"status", "--dialect", "redisson", "nightly", "--json"});
  EXPECT_THAT(status.output, HasSubstr("its owner holds it 2 times"));
  server.command({"SET", "plain", "0123456789abcdef"});
  const auto plain = holdfast_at(server, {"status", "--dialect", "redis_py", "plain"});
  EXPECT_THAT(plain.output, HasSubstr("01234567"));
  EXPECT_THAT(plain.output, ::testing::Not(HasSubstr("0123456789abcdef")));
}

TEST_P(CommandLine, RunsACommandAsReaderOrWriterOfRedisson) {
  const auto server = start();
  const auto program = std::string(HOLDFAST_PROGRAM) + " --url " + server.url();
  const auto again = [&](const char* how) {
    return program + " run --nonblock --dialect redisson " + how + " nightly -- echo in; ";
  };
  const auto script =
      again("--shared") + again("--exclusive") + program + " status --dialect redisson nightly";
  const auto run = holdfast_at(
      server, {"run", "--shared", "--dialect", "redisson", "nightly", "--", "sh", "-c", script});
  EXPECT_EQ(run.how, exited(0)) << run.errors;
  EXPECT_THAT(run.output, ::testing::StartsWith("in\nNAME"));
  EXPECT_THAT(run.output, HasSubstr("mode lock"));
  EXPECT_THAT(run.output, HasSubstr("PR"));
  const auto alone = holdfast_at(server, {"run", "--exclusive", "--dialect", "redisson", "nightly",
                                          "--", "sh", "-c", again("--shared") + "true"});
  EXPECT_EQ(alone.output, "");
  EXPECT_THAT(alone.errors, HasSubstr("held by"));
  EXPECT_EQ(server.command({"KEYS", "*nightly*"}).items.size(), 0U);
}

TEST_P(CommandLine, StandsInTheQueueOfRedisson) {
  const auto server = start();
  const auto queue = std::string("redisson_lock_queue:{nightly}");
  const auto run = holdfast_at(
      server, {"run", "--fair", "--dialect", "redisson", "nightly", "--", "echo", "in"});
  EXPECT_EQ(run.output, "in\n") << run.errors;
  EXPECT_EQ(server.command({"KEYS", "*nightly*"}).items.size(), 0U);
  server.command({"RPUSH", queue, "theirs:1"});
  server.command({"ZADD", "redisson_lock_timeout:{nightly}", "9000000000000", "theirs:1"});
  const words refused = {"run",      "--fair",  "--wait", "300ms", "--dialect",
                         "redisson", "nightly", "--",     "true"};
  EXPECT_EQ(holdfast_at(server, refused).how, exited(75));
  EXPECT_EQ(server.command({"LLEN", queue}).number, 1);  // theirs
}

TEST_P(CommandLine, RunsACommandWithPermitsOfRedisson) {
  const auto server = start();
  for (const auto* dialect : {"redisson", "redisson_expirable"}) {
    const words run = {"run",   "--permits", "2/3", "--nonblock", "--dialect",
                       dialect, "seats",     "--",  "echo",       "in"};
    EXPECT_EQ(holdfast_at(server, run).output, "in\n") << dialect;
    EXPECT_EQ(server.command({"GET", "seats"}).text, "3") << dialect;
    server.command({"SET", "seats", "1"});
    EXPECT_EQ(holdfast_at(server, run).how, exited(75)) << dialect;
    server.command({"FLUSHALL"});
  }
}

TEST_P(CommandLine, RunsACommandWithPermitsOfRedisSemaphore) {
  const auto server = start();
  const auto run = [&](const char* dialect) {
    return holdfast_at(server, {"run", "--permits", "2/3", "--nonblock", "--dialect", dialect,
                                "seats", "--", "echo", "in"});
  };
  const auto first = run("redis_semaphore");
  EXPECT_EQ(first.output, "in\n") << first.errors << "its lease is no longer than the timeout";
  EXPECT_EQ(server.command({"EXISTS", "semaphore:seats"}).number, 0);
  const auto now = std::stoll(server.command({"TIME"}).items.at(0).text) * 1000;
  const std::string uuid = "0f0e0d0c-0b0a-0908-0706-050403020100";
  server.command({"ZADD", "semaphore:seats", std::to_string(now - 15'000), uuid + "_0",
                  std::to_string(now - 15'000), uuid + "_1"});
  EXPECT_EQ(run("redis_semaphore:1m").how, exited(75));
  const auto status =
      holdfast_at(server, {"status", "--dialect", "redis_semaphore:1m", "seats"}).output;
  EXPECT_THAT(status, HasSubstr("id 0f0e0d0c"));
  const auto listed = holdfast_at(server, {"ls", "--all-dialects"}).output;
  EXPECT_THAT(listed, ::testing::ContainsRegex("seats +redis_semaphore +held"));
  EXPECT_EQ(run("redis_semaphore").output, "in\n") << "in 10 s they were not refreshed";
  const words too_long = {"run",       "--permits",       "1/3",   "--lease", "11s",
                          "--dialect", "redis_semaphore", "seats", "--",      "true"};
  EXPECT_EQ(holdfast_at(server, too_long).how, exited(64));
}

TEST_P(CommandLine, RunsACommandAsReaderOrWriterOfSymfony) {
  const auto server = start();
  const auto program = std::string(HOLDFAST_PROGRAM) + " --url " + server.url();
  const auto again = [&](const char* how) {
    return program + " run --nonblock --dialect symfony " + how + " nightly -- echo in; ";
  };
  const auto script = again("--shared") + again("--exclusive") + again("") + program +
                      " status --dialect symfony nightly";
  const auto run = holdfast_at(
      server, {"run", "--shared", "--dialect", "symfony", "nightly", "--", "sh", "-c", script});
  EXPECT_EQ(run.how, exited(0)) << run.errors;
  EXPECT_THAT(run.output, ::testing::StartsWith("in\nNAME"));
  EXPECT_THAT(run.output, HasSubstr("PR"));
  EXPECT_EQ(server.command({"EXISTS", "nightly"}).number, 0);
}

TEST_P(CommandLine, LocksSeveralOfALibraryTogether) {
  const auto server = start();
  const auto run =
      holdfast_at(server, {"run", "--dialect", "go_zero", "--all-of", "a,b", "--", "echo", "in"});
  EXPECT_EQ(run.how, exited(0)) << run.errors;
  server.command({"SET", "b", "theirs"});
  const auto kept_out = holdfast_at(
      server, {"run", "--nonblock", "--dialect", "go_zero", "--all-of", "a,b", "--", "true"});
  EXPECT_EQ(kept_out.how, exited(75));
  EXPECT_EQ(server.command({"EXISTS", "a"}).number, 0);
}

TEST_P(CommandLine, FindsTheKeysOfADialectThatHasAPrefix) {
  const auto server = start();
  const std::vector<std::pair<std::string, std::string>> keys = {
      {"spring_integration:app", "app:nightly"},
      {"spring_integration_pub_sub:app", "app:nightly"},
      {"python_redis_lock", "lock:nightly"},
      {"shedlock", "job-lock:default:nightly"},
      {"symfony", "nightly"},  // as before 5.2
      {"symfony:app:", "app:nightly"},
      {"shedlock:prod", "job-lock:prod:nightly"},
      {"token", "nightly"},
      {"token:lock:", "lock:nightly"},
      {"token:,:lock", "nightly:lock"},
      {"token:a,b,c", "anightlyb,c"},
  };
  for (const auto& [dialect, key] : keys) {
    server.command({"SET", key, "theirs"});
    const words refused = {"run", "--nonblock", "--dialect", dialect, "nightly", "--", "true"};
    EXPECT_EQ(holdfast_at(server, refused).how, exited(75)) << dialect;
    const auto status = holdfast_at(server, {"status", "--dialect", dialect, "nightly"});
    EXPECT_THAT(status.output, HasSubstr("id theirs")) << dialect;
    server.command({"FLUSHALL"});
    const words run = {"run", "--dialect", dialect, "nightly", "--", "echo", "in"};
    EXPECT_EQ(holdfast_at(server, run).output, "in\n") << dialect;
    EXPECT_EQ(server.command({"EXISTS", key}).number, 0) << dialect;
  }
}

TEST_P(CommandLine, AsksAgainAfterTheRetryInterval) {
  const auto server = start();
  const std::vector<std::pair<std::string, std::string>> keys = {
      {"token:lock:", "lock:a"}, {"redis_py", "a"},
      {"redlock", "a"},          {"shedlock", "job-lock:default:a"},
      {"symfony:app:", "app:a"}, {"spring_integration:app", "app:a"}};
  for (const auto& one : keys) {
    const std::string &dialect = one.first, &key = one.second;
    const auto wait = [&](const char* interval, const char* at_most) {
      server.command({"SET", key, "theirs"});
      const auto before = server.calls("pttl");
      const auto began = net::now();
      child_process waits(call_at(server, {"run", "--retry-interval", interval, "--dialect",
                                           dialect, "--wait", at_most, "a", "--", "true"}));
      EXPECT_TRUE(eventually([&] { return server.calls("pttl") > before; }))
          << dialect << ": it was told how long the lock is held";
      server.command({"DEL", key});
      EXPECT_EQ(waits.wait(), exited(0)) << dialect;
      return net::now() - began;
    };
    EXPECT_LT(wait("5ms", "60s"), 60s) << dialect;
    EXPECT_GE(wait("1h", "400ms"), 400ms) << dialect << ": it asks again when the time is over";
  }
  for (const auto* dialect : {"redisson", "go_zero", "holdfast"}) {
    const words run = {"run", "--dialect", dialect, "--retry-interval", "10ms", "a", "--", "true"};
    const auto refused = holdfast_at(server, run);
    EXPECT_EQ(refused.how, exited(64)) << dialect;
    EXPECT_THAT(refused.errors, HasSubstr("--retry-interval"));
  }
  for (const auto* wrong : {"10", "0ms", "2h"}) {
    EXPECT_EQ(holdfast_at(server, {"run", "--dialect", "token", "--retry-interval", wrong, "a",
                                   "--", "true"})
                  .how,
              exited(64))
        << wrong;
  }
}

TEST_P(CommandLine, WatchesALockOfAnotherLibrary) {
  const auto server = start();
  server.command({"SET", "go-zero", "0123456789abcdef"});
  child_process watching(call_at(
      server, {"watch", "--dialect", "go_zero", "go-zero", "--interval", "50ms", "--count", "2"}));
  ASSERT_TRUE(watching.wait_for_output("held by"));
  server.command({"DEL", "go-zero"});
  EXPECT_EQ(watching.wait(), exited(0));
  EXPECT_THAT(watching.output(), HasSubstr("free, 0 waiting"));
}

TEST_P(CommandLine, RunsACommandUnderALockOfAQuorum) {
  const private_server servers[] = {start(), start(), start()};
  words members;
  for (const auto& each : servers) members.insert(members.end(), {"--member", each.url()});
  const auto run = [&](words how, words command) {
    words all = {"run", "--nonblock"};
    for (auto* part : {&how, &members, &command}) all.insert(all.end(), part->begin(), part->end());
    return holdfast_at(servers[0], all);
  };
  const auto there = [&](const std::string& key) {
    return servers[0].command({"EXISTS", key}).number + servers[1].command({"EXISTS", key}).number +
           servers[2].command({"EXISTS", key}).number;
  };
  const words echo = {"nightly", "--", "sh", "-c", "echo token $HOLDFAST_TOKEN"};
  EXPECT_EQ(run({"--dialect", "redlock"}, echo).output, "token none\n");
  EXPECT_EQ(run({"--dialect", "redlock_node:stock"}, echo).output, "token none\n");
  EXPECT_THAT(run({}, echo).output, ::testing::MatchesRegex("token [0-9]+\n"));
  servers[1].command({"SET", "nightly", "theirs"});
  EXPECT_EQ(run({"--dialect", "redlock"}, echo).how, exited(0));
  servers[2].command({"SET", "nightly", "theirs"});
  const auto refused = run({"--dialect", "redlock"}, echo);
  EXPECT_EQ(refused.how, exited(75));
  EXPECT_THAT(refused.errors, HasSubstr("held by unknown, id theirs"));
  servers[0].command({"SET", "stock", "theirs"});
  servers[1].command({"SET", "stock", "theirs"});
  EXPECT_EQ(run({"--dialect", "redlock_node:stock"}, {"other", "--", "true"}).how, exited(75));
  EXPECT_EQ(there("other"), 0);
  EXPECT_EQ(run({"--shared"}, {"nightly", "--", "true"}).how, exited(64));
  EXPECT_EQ(run({"--dialect", "redisson"}, {"nightly", "--", "true"}).how, exited(78));
  EXPECT_EQ(run({"--member", "redis://user:secret@there"}, {"a", "--", "true"}).how, exited(64));
  const auto both = run({"--dialect", "redlock", "--all-of", "a,b"}, {"--", "echo", "in"});
  EXPECT_EQ(both.output, "in\n") << both.errors;
  members[1] = "unix:///nowhere/a";
  members[3] = "unix:///nowhere/b";
  for (auto& one : servers) one.command({"DEL", "nightly"});
  const auto alone = run({"--dialect", "redlock"}, echo);
  EXPECT_EQ(alone.how, exited(69));
  EXPECT_THAT(alone.errors, HasSubstr("/nowhere/a"));
}

TEST_P(CommandLine, TellsTheTokenOfRedissonToTheCommand) {
  const auto server = start();
  server.command({"SET", "redisson_lock_token:{nightly}", "41"});
  const words echo = {"--", "sh", "-c", "echo $HOLDFAST_TOKEN"};
  for (const auto& [dialect, token] :
       {std::pair{"redisson_fenced", "42\n"}, std::pair{"redisson_spin", "none\n"}}) {
    words run = {"run", "--dialect", dialect, "nightly"};
    run.insert(run.end(), echo.begin(), echo.end());
    EXPECT_EQ(holdfast_at(server, run).output, token);
  }
}

TEST_P(CommandLine, ListsLocksOfAllDialectsAndWhoseTheyAre) {
  const auto server = start();
  const auto listing = "echo in; exec " + std::string(HOLDFAST_PROGRAM) + " --url " + server.url() +
                       " ls --all-dialects";
  server.command({"SET", "app:nightly", "0f0e0d0c-0b0a-0908-0706-050403020100", "EX", "60"});
  server.command({"SET", "number", "7"});
  server.command({"SET", "stuck", "0f0e0d0c-0b0a-0908-0706-050403020100"});
  const auto shown = holdfast_at(server, {"run", "orders", "--", "sh", "-c", listing}).output;
  EXPECT_THAT(shown, HasSubstr("NAME         DIALECT                  STATE"));
  EXPECT_THAT(shown, HasSubstr("orders       holdfast                 held"));
  EXPECT_THAT(shown, HasSubstr("app:nightly  token (library unknown)  held"));
  EXPECT_THAT(shown, ::testing::ContainsRegex("\nstuck .* no end"));
  EXPECT_THAT(shown, ::testing::Not(HasSubstr("number")));
  EXPECT_THAT(holdfast_at(server, {"ls", "--all-dialects", "number"}).output,
              ::testing::ContainsRegex("\nnumber .* no end"))
      << "somebody has named it";
  const auto text = holdfast_at(server, {"ls", "--all-dialects", "--json", "*n*"}).output;
  EXPECT_THAT(text, HasSubstr("\"dialect\": \"token\""));
  EXPECT_THAT(text, HasSubstr("library unknown; perhaps spring_integration:app"));
  EXPECT_THAT(text, HasSubstr("\"text\": \"0f0e0d0c-0b0a-0908-0706-050403020100\""));
  // As it is said there it can be asked for.
  for (const auto& lock : {words{"token", "app:nightly"}, {"spring_integration:app", "nightly"}}) {
    const auto status = holdfast_at(server, {"status", "--dialect", lock[0], lock[1]});
    EXPECT_THAT(status.output, HasSubstr("id 0f0e0d0c"));
  }
}

TEST_P(CommandLine, TellsOwnersWholeToProgramsAndEscapesThemOnce) {
  const auto server = start();
  server.command({"SET", "a", "back\\\xb7\x1b[31m in all its length"});
  const auto ask = [&](words arguments) {
    const words before = {"status", "--dialect", "token", "a"};
    arguments.insert(arguments.begin(), before.begin(), before.end());
    return holdfast_at(server, std::move(arguments)).output;
  };
  EXPECT_THAT(ask({}), HasSubstr("id back\\\\\\xb7\\x1b[ ")) << "as people may see it: a part";
  const auto busy =
      holdfast_at(server, {"run", "--nonblock", "--dialect", "token", "a", "--", "true"});
  EXPECT_THAT(busy.errors, HasSubstr("id back\\\\\\xb7\\x1b["));
  EXPECT_THAT(busy.errors, Not(HasSubstr("back\\\\\\\\")));
  const auto owner = nlohmann::json::parse(ask({"--json"}))["locks"][0]["owner"];
  EXPECT_EQ(owner["text"], "back\\\ufffd\x1b[31m in all its length");
  EXPECT_EQ(owner["text_hex"], "6261636b5cb71b5b33316d20696e20616c6c20697473206c656e677468");
}

TEST_P(CommandLine, ASemaphoreIsNotFreeWhereItsNameIsSomethingElse) {
  const auto server = start();
  const auto shown = [&] {
    return holdfast_at(server, {"status", "--dialect", "redisson_expirable", "seats"}).output;
  };
  EXPECT_THAT(shown(), HasSubstr("seats  free"));
  server.command({"SET", "seats", "3"});
  EXPECT_THAT(shown(), HasSubstr("seats  free"));
  server.command({"SET", "seats", "theirs"});
  EXPECT_THAT(shown(), HasSubstr("not a Holdfast lock: a text that is no count of permits"));
  server.command({"DEL", "seats"});
  server.command({"HSET", "seats", "0f0e0d0c-0b0a-0908-0706-050403020100:77", "1"});
  EXPECT_THAT(shown(), HasSubstr("not a Holdfast lock: a key of a type that no such lock has"));
}

// A lock that its holder left behind, without an end.
TEST_P(CommandLine, BreaksALockOfAnotherLibrary) {
  const auto server = start();
  const words why = {"--force", "--reason", "a test"};
  const auto release = [&](words arguments) {
    arguments.insert(arguments.begin(), "release");
    arguments.insert(arguments.end(), why.begin(), why.end());
    return holdfast_at(server, arguments);
  };
  const std::string uuid = "0f0e0d0c-0b0a-0908-0706-050403020100";
  const std::vector<std::pair<std::string, words>> kept = {
      {"token:a,b", {"SET", "anightlyb", uuid}},
      {"go_zero", {"SET", "nightly", "0123456789ABCDEf"}},
      {"spring_integration:app", {"SET", "app:nightly", uuid}},
      {"spring_integration_pub_sub:app", {"SET", "app:nightly", uuid}},
      {"python_redis_lock", {"SET", "lock:nightly", "theirs"}},
      {"shedlock", {"SET", "job-lock:default:nightly", "ADDED:then@there"}},
      {"redlock", {"SET", "nightly", "theirs"}},
      {"redlock_node:stock", {"MSET", "nightly", "theirs", "stock", "theirs"}},
      {"rueidislock",
       {"MSET", "rueidislock:0:nightly", "theirs", "rueidislock:1:nightly", "theirs"}},
      {"redisson", {"HSET", "nightly", uuid + ":77", "2"}},
      {"redisson_spin", {"HSET", "nightly", uuid + ":77", "2"}},
      {"redisson", {"HSET", "nightly", "mode", "write", uuid + ":77:write", "1"}},
      {"symfony", {"ZADD", "nightly", "inf", "AAAA", "inf", "__write__"}},
      {"symfony", {"SET", "nightly", "as before 5.2"}}};
  for (const auto& [dialect, command] : kept) {
    server.command({"FLUSHALL"});
    server.command(command);
    const auto said = release({"nightly", "--dialect", dialect});
    EXPECT_EQ(said.how, exited(0)) << dialect << said.errors;
    EXPECT_THAT(said.output, HasSubstr("broken: nightly")) << dialect;
    for (std::size_t i = 1; i < command.size(); i += command[0] == "MSET" ? 2 : command.size()) {
      EXPECT_EQ(server.command({"EXISTS", command[i]}).number, 0) << dialect;
    }
    EXPECT_EQ(server.command({"XLEN", "hf:audit"}).number, 1);
    const auto again = release({"nightly", "--dialect", dialect});
    EXPECT_EQ(again.how, exited(1)) << dialect;
    EXPECT_EQ(again.output, "nobody held nightly\n");
  }
  server.command({"MSET", "nightly", "mine", "stock", "theirs"});
  EXPECT_EQ(release({"nightly", "--dialect", "redlock_node:stock"}).how, exited(0));
  EXPECT_EQ(server.command({"GET", "stock"}).text, "theirs") << "another's";
  server.command({"RPUSH", "list", "a"});
  EXPECT_EQ(release({"list", "--dialect", "token"}).how, exited(65));
  EXPECT_EQ(server.command({"EXISTS", "list"}).number, 1);
  for (const auto* dialect : {"redisson_expirable", "redis_semaphore"}) {
    EXPECT_EQ(release({"seats", "--dialect", dialect}).how, exited(78)) << dialect;
  }
}

// By their own way of being told, long before they would ask by themselves.
TEST_P(CommandLine, TellsThoseWhoWaitThatALockOfAnotherLibraryWasBroken) {
  const auto server = start();
  server.command({"HSET", "nightly", "0f0e0d0c-0b0a-0908-0706-050403020100:77", "1"});
  child_process waits(
      call_at(server, {"run", "--dialect", "redisson", "--wait", "60s", "nightly", "--", "true"}));
  const auto listens = [&] {
    return server.command({"PUBSUB", "NUMSUB", "redisson_lock__channel:{nightly}"})
               .items.at(1)
               .number == 1;
  };
  ASSERT_TRUE(eventually(listens));
  EXPECT_EQ(holdfast_at(server, {"release", "nightly", "--dialect", "redisson", "--force",
                                 "--reason", "a test"})
                .how,
            exited(0));
  EXPECT_EQ(waits.wait(), exited(0)) << waits.errors();
}

TEST_P(CommandLine, SaysWhoseLockANameMayMean) {
  const auto server = start();
  const std::string uuid = "0f0e0d0c-0b0a-0908-0706-050403020100";
  server.command({"SET", "a", uuid});
  server.command({"HSET", "b", uuid + ":77", "2"});
  server.command({"SET", "lock:c", "AAAAbbbbCCCCdddd0000++//"});
  server.command({"SET", "d:lock", uuid});
  server.command({"SET", "e", "worker 7"});
  const std::vector<std::pair<std::string, std::string>> all = {
      {"a", "--dialect token a"},
      {"b", "--dialect redisson b"},
      {"c", "--dialect python_redis_lock c"},
      {"d", "--dialect token d:lock"},
      {"e", "--dialect token e"}};
  for (const auto& [name, advice] : all) {
    const auto status = holdfast_at(server, {"status", name});
    EXPECT_EQ(status.how, exited(0));
    EXPECT_THAT(status.errors, HasSubstr(advice + "\n"));
    const auto broken = holdfast_at(server, {"release", name, "--force", "--reason", "a test"});
    EXPECT_EQ(broken.how, exited(1));
    EXPECT_THAT(broken.errors, HasSubstr(advice + "\n"));
  }
  EXPECT_EQ(holdfast_at(server, {"status", "nobody's"}).errors, "");
}

TEST_P(CommandLine, ShowsAndBreaksTheVotesOfAnotherLibrary) {
  const private_server servers[] = {start(), start(), start()};
  words members;
  for (const auto& each : servers) members.insert(members.end(), {"--member", each.url()});
  const auto ask = [&](words arguments) {
    arguments.insert(arguments.end(), members.begin(), members.end());
    return holdfast_at(servers[0], arguments);
  };
  for (const auto& each : servers) each.command({"SET", "nightly", "AAAAbbbbCCCCdddd0000+w=="});
  const words release = {"release", "nightly", "--force", "--reason", "a test"};
  const auto with = [](words arguments, const std::string& dialect) {
    arguments.insert(arguments.end(), {"--dialect", dialect});
    return arguments;
  };
  EXPECT_THAT(ask({"status", "nightly"}).errors,
              HasSubstr("3 of 3 members seem to have another library's vote for nightly"));
  EXPECT_THAT(ask(release).errors, HasSubstr("3 of 3 members seem to have another library's vote"));
  const auto held = ask(with({"status", "nightly"}, "redlock"));
  EXPECT_THAT(held.output, ::testing::ContainsRegex("nightly +held +3/3"));
  servers[0].command({"SET", "nightly", "another"});
  EXPECT_THAT(ask(with({"status", "nightly"}, "redlock")).output,
              ::testing::ContainsRegex("nightly +held +2/3"));
  servers[1].command({"SET", "nightly", "a third"});
  EXPECT_THAT(ask(with({"status", "nightly"}, "redlock")).output,
              ::testing::ContainsRegex("nightly +free"));
  for (const auto& each : servers) each.command({"SET", "nightly", "AAAAbbbbCCCCdddd0000+w=="});
  const auto broken = ask(with(release, "redlock"));
  EXPECT_EQ(broken.how, exited(0)) << broken.errors;
  EXPECT_THAT(broken.output, HasSubstr("at 3 of 3 members"));
  for (const auto& each : servers) EXPECT_EQ(each.command({"EXISTS", "nightly"}).number, 0);
  EXPECT_EQ(ask(with({"status", "nightly"}, "redisson")).how, exited(78));
}

TEST_P(CommandLine, RefusesWhatADialectHasNot) {
  const auto server = start();
  const words fair = {"run", "--fair", "--dialect", "go_zero", "a", "--", "true"};
  EXPECT_EQ(holdfast_at(server, fair).how, exited(78));
  for (const auto* option : {"--shared", "--exclusive"}) {
    const auto run =
        holdfast_at(server, {"run", option, "--dialect", "go_zero", "a", "--", "true"});
    EXPECT_EQ(run.how, exited(78)) << option;
    EXPECT_THAT(run.errors, HasSubstr("redisson is also for read-write locks")) << option;
  }
  for (const auto* none : {"cobol", "redisson:a", "spring_integration",
                           "spring_integration:", "redis_semaphore:10", "redis_semaphore:1ms"}) {
    EXPECT_EQ(holdfast_at(server, {"status", "--dialect", none, "a"}).how, exited(64)) << none;
  }
}

}  // namespace
}  // namespace holdfast::cli_tests
