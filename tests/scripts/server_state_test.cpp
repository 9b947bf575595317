// The scripts and the state of the server: its script cache, its memory, its rights.
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "redis/dialects/holdfast/client_registry.hpp"
#include "redis/dialects/holdfast/counter.hpp"
#include "redis/dialects/holdfast/fenced.hpp"
#include "redis/dialects/holdfast/latch.hpp"
#include "redis/dialects/holdfast/rate.hpp"
#include "redis/dialects/holdfast/trail.hpp"
#include "redis/resp/sample_replies_for_tests.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {
namespace {

class ScriptsAndServer : public scripts_test {};
HOLDFAST_ON_EACH_SERVER(ScriptsAndServer);

TEST_P(ScriptsAndServer, AgreeAboutTheHashOfEveryScript) {
  for (const catalog_entry& entry : catalog()) {
    for (const resp::script* script : entry.scripts) {
      const auto loaded = redis().command({"SCRIPT", "LOAD", std::string{script->text}});
      EXPECT_EQ(loaded, (resp::value{.kind = resp::type::bulk,
                                     .number = 0,
                                     .text = std::string{script->sha1},
                                     .items = {}}))
          << script->name;
    }
  }
}

TEST_P(ScriptsAndServer, SurviveAnEmptiedScriptCache) {
  const claim mine = claims.next();
  const auto& how = native_mutex(fencing::on);
  const auto acquire = [&](resp::writer::scripts form) {
    return redis().ask([&](auto& out) { how.write_acquire(mine, false, never, out); }, form);
  };
  using enum resp::writer::scripts;
  ASSERT_TRUE(acquire(by_text).is(resp::type::integer));
  EXPECT_TRUE(acquire(by_sha1).is(resp::type::array)) << "mine";
  redis().command({"SCRIPT", "FLUSH"});
  const auto missing = acquire(by_sha1);
  EXPECT_TRUE(missing.is(resp::type::error));
  EXPECT_TRUE(missing.text.starts_with("NOSCRIPT"));
  EXPECT_TRUE(acquire(by_text).is(resp::type::array));
}

TEST_P(ScriptsAndServer, GiveBackAndRenewWhenMemoryIsShort) {
  claim kept = claims.next(), given_back = others.next();
  const lock_key second{"b"}, third{"c"};
  given_back.key = &second;
  redis().must_acquire(kept);
  redis().must_acquire(given_back);
  redis().command({"CONFIG", "SET", "maxmemory", "1"});

  const auto before = redis().contents();
  claim wanted = claims.next();
  wanted.key = &third;
  const auto verdict = redis().acquire(wanted);
  EXPECT_EQ(code_of(verdict), errc::out_of_memory);
  EXPECT_TRUE(std::get<refused>(verdict).passing);
  EXPECT_EQ(redis().contents(), before);

  EXPECT_TRUE(std::holds_alternative<busy>(redis().acquire(others.next())));
  EXPECT_TRUE(std::holds_alternative<granted>(redis().acquire(kept, true)));
  EXPECT_TRUE(std::holds_alternative<renewed>(redis().renew(kept)));
  EXPECT_EQ(redis().release(given_back), release_verdict(released{}));
  EXPECT_EQ(redis().withdraw(kept), release_verdict(released{}));
}

TEST_P(ScriptsAndServer, KeepWhatSeveralHoldWhenMemoryIsShort) {
  script_client shared{server(), native_shared_lock()};
  const demand reads{.mode = 'r'};
  claim first = claims.next(milliseconds(20'000)), second = others.next();
  first.wants = second.wants = &reads;
  shared.must_acquire(first);
  shared.must_acquire(second);
  redis().command({"CONFIG", "SET", "maxmemory", "1"});
  claim third = claims.next();
  third.wants = &reads;
  EXPECT_EQ(code_of(shared.acquire(third)), errc::out_of_memory);
  // The summary's end stays with the one, and moves with the other.
  for (const auto& how_long : {milliseconds(25'000), milliseconds(60'000)}) {
    first.lease = how_long;
    EXPECT_EQ(shared.renew(first), renew_verdict(renewed{how_long}));
  }
  first.lease = milliseconds(90'000);
  EXPECT_TRUE(std::holds_alternative<granted>(shared.acquire(first, true)));
  EXPECT_GT(redis().pttl(key.value_key()), 80'000);
  EXPECT_EQ(shared.release(first), release_verdict(released{}));
  EXPECT_EQ(shared.withdraw(second), release_verdict(released{}));
}

TEST_P(ScriptsAndServer, BreakALockWhenMemoryIsShort) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  redis().command({"SET", key.fence_key(), std::to_string(mine.granted - 1)});
  redis().command({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_TRUE(std::holds_alternative<lock_broken>(redis().break_lock(key)));
  EXPECT_EQ(redis().counted(key), mine.granted);
}

TEST_P(ScriptsAndServer, ChangeNothingOnAReplica) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  redis().command({"REPLICAOF", "127.0.0.1", "1"});
  const auto before = redis().contents();
  const lock_key free_key{"free"};
  claim wanted = claims_of{free_key}.next();
  EXPECT_EQ(code_of(redis().acquire(wanted)), errc::read_only);
  EXPECT_EQ(code_of(redis().release(mine)), errc::read_only);
  // More is left than the one asks for, and less than the other.
  for (const auto how_long : {milliseconds(1), milliseconds(60'000)}) {
    mine.lease = how_long;
    EXPECT_EQ(code_of(redis().renew(mine)), errc::read_only);
    EXPECT_EQ(code_of(redis().acquire(mine, true)), errc::read_only);
  }
  EXPECT_EQ(code_of(redis().break_lock(key)), errc::read_only);
  EXPECT_TRUE(std::holds_alternative<lock_held>(redis().inspect(key)));
  EXPECT_EQ(redis().contents(), before);
}

TEST_P(ScriptsAndServer, TellThatReplicasAreMissing) {
  claim mine = claims.next();
  redis().must_acquire(mine);
  redis().command({"CONFIG", "SET", "min-replicas-to-write", "1"});
  mine.lease = milliseconds(60'000);
  EXPECT_EQ(code_of(redis().release(mine)), errc::no_replicas);
  EXPECT_EQ(code_of(redis().renew(mine)), errc::no_replicas);
  const lock_key free_key{"free"};
  EXPECT_EQ(code_of(redis().acquire(claims_of{free_key}.next())), errc::no_replicas);
}

// The rights after a mark in docs/wire/holdfast.md, as that page tells people to give them:
// "ACL SETUSER locks on >PASSWORD ~hf:* ...".
std::vector<std::string> documented_rights(const std::string& who) {
  std::ifstream page{HOLDFAST_DOCS "/wire/holdfast.md"};
  std::string line;
  while (std::getline(page, line) && line != "<!-- acl: " + who + " -->") continue;
  std::getline(page, line);
  std::getline(page, line);
  std::istringstream words{line};
  const std::vector<std::string> rights{std::istream_iterator<std::string>{words}, {}};
  if (rights.size() < 4) throw std::runtime_error{"no rights of a " + who + " in holdfast.md"};
  return rights;
}

class RestrictedUser : public scripts_test {
 protected:
  // Gives the user the documented rights, without those that `but` takes away, and becomes it.
  void log_in(const std::vector<std::string>& roles, const std::vector<std::string>& but = {}) {
    server().command({"ACL", "SETUSER", "locks", "reset"});
    for (const auto& role : roles) {
      ASSERT_EQ(server().command(documented_rights(role)).text, "OK");
    }
    std::vector<std::string> less{"ACL", "SETUSER", "locks"};
    less.insert(less.end(), but.begin(), but.end());
    ASSERT_EQ(server().command(less).text, "OK");
    ASSERT_EQ(redis().command({"AUTH", "locks", "PASSWORD"}).text, "OK");
  }
};
HOLDFAST_ON_EACH_SERVER(RestrictedUser);

TEST_P(RestrictedUser, CanDoWhatAClientDoes) {
  log_in({"client"});
  claim mine = claims.next();
  redis().must_acquire(mine);
  EXPECT_TRUE(std::holds_alternative<granted>(redis().acquire(mine, true)));
  EXPECT_TRUE(std::holds_alternative<busy>(redis().acquire(others.next())));
  EXPECT_TRUE(std::holds_alternative<renewed>(redis().renew(mine)));
  EXPECT_EQ(redis().release(mine), release_verdict(released{}));
  redis().must_acquire(mine);
  EXPECT_EQ(redis().withdraw(mine), release_verdict(released{}));
  const auto registered = redis().ask([&](auto& out) {
    write_client({key_space{}, client_id{{1}}.text()}, client_entry{}, milliseconds(1000), out);
  });
  EXPECT_EQ(read_client_written(registered), std::nullopt);
  const auto removed = redis().ask([](auto& out) {
    write_client_removal({key_space{}, client_id{{1}}.text()}, out);
  });
  EXPECT_EQ(removed, resp::integer(1));
  for (const char* word : {"INFO", "TIME"}) {
    EXPECT_FALSE(redis().command({word}).is(resp::type::error)) << word;
  }
  EXPECT_EQ(redis().command({"SELECT", "0"}), resp::simple("OK"));
  script_client plain{server(), fencing::off};
  ASSERT_EQ(plain.command({"AUTH", "locks", "PASSWORD"}).text, "OK");
  const claim unfenced = claims.next();
  EXPECT_EQ(plain.acquire(unfenced), acquire_verdict(granted{0, lease}));
  EXPECT_EQ(code_of(redis().inspect(key)), errc::permission_denied) << "needs operator rights";
}

TEST_P(RestrictedUser, CanDoWhatAnOperatorDoes) {
  log_in({"client", "operator"});
  claim mine = claims.next();
  redis().must_acquire(mine);
  EXPECT_TRUE(std::holds_alternative<lock_held>(redis().inspect(key)));
  const auto registered = redis().ask([&](auto& out) {
    write_client_query({key_space{}, "0123456789abcdef"}, out);
  });
  EXPECT_EQ(read_client(registered), client_verdict(std::optional<client_entry>{}));
  EXPECT_TRUE(std::holds_alternative<lock_broken>(redis().break_lock(key)));
  const auto audited = redis().ask([&](auto& out) {
    write_audit(key_space{}, {.name = "n", .owner = "o", .major = 1, .by = "b", .reason = "r"},
                out);
  });
  EXPECT_TRUE(audited.is_text()) << resp::to_string(audited);
  const auto trail = redis().ask([](auto& out) { write_trail_query("hf:trail", "-", out); });
  EXPECT_TRUE(std::holds_alternative<stream_page<trail_entry>>(read_trail(trail)));
  EXPECT_EQ(redis().command({"PUBLISH", "hf:c:doctor", "x"}), resp::integer(0));
  EXPECT_TRUE(redis().command({"SCAN", "0"}).is(resp::type::array));
  EXPECT_TRUE(redis().command({"INFO", "memory"}).is_text());
}

TEST_P(RestrictedUser, CanKeepAnAuditTrail) {
  const auto append = [&] {
    const std::vector<trail_note> notes{{.name = "a"}};
    return read_trail_written(redis().ask([&](auto& out) {
      write_trail({key_space{}, "trail"}, {}, notes, monotonic_time{}, out);
    }));
  };
  log_in({"client"});
  EXPECT_EQ(append()->code, errc::permission_denied);
  log_in({"client", "audit"});
  EXPECT_EQ(append(), std::nullopt);
}

TEST_P(RestrictedUser, CanHoldWhatSeveralHold) {
  log_in({"client", "shared"});
  script_client shared{server(), native_shared_lock()};
  ASSERT_EQ(shared.command({"AUTH", "locks", "PASSWORD"}).text, "OK");
  const demand reads{.mode = 'r'}, writes{.mode = 'x'};
  claim reader = claims.next(), writer = others.next(), behind = others.next();
  reader.wants = behind.wants = &reads;
  writer.wants = &writes;
  writer.waits = behind.waits = true;
  shared.must_acquire(reader);
  EXPECT_TRUE(std::holds_alternative<queued>(shared.acquire(writer)));
  shared.must_acquire(behind);  // nobody hears the writer
  EXPECT_TRUE(std::holds_alternative<renewed>(shared.renew(reader)));
  EXPECT_EQ(shared.release(reader), release_verdict(released{}));
  const demand instead{.mode = 'x', .replaced = behind.owner};
  claim change = others.next();
  change.wants = &instead;
  shared.must_acquire(change);
  EXPECT_EQ(shared.withdraw(change), release_verdict(released{}));
  EXPECT_EQ(shared.release(behind), release_verdict(released{}));
}

TEST_P(RestrictedUser, CanWaitAtLatchesAndBarriers) {
  log_in({"client", "barrier"});
  script_client latch{server(), native_latch()}, barrier{server(), native_barrier()};
  for (auto* one : {&latch, &barrier}) {
    ASSERT_EQ(one->command({"AUTH", "locks", "PASSWORD"}).text, "OK");
  }
  const auto change = [&](const once_call& asked) {
    const auto reply = latch.ask(
        [&](auto& out) { write_once(key_space{}, asked, claims.next().owner, never, out); });
    return std::get<once_answer>(read_once(reply)).word;
  };
  claim waiter = claims.next();
  waiter.waits = true;
  EXPECT_EQ(change(latch_set(key, 1)), "ok");
  EXPECT_TRUE(std::holds_alternative<queued>(latch.acquire(waiter)));
  EXPECT_EQ(latch.withdraw(waiter), release_verdict(not_mine{}));
  EXPECT_TRUE(std::holds_alternative<queued>(latch.acquire(waiter)));
  EXPECT_EQ(change(latch_count_down(key, 1)), "opened");
  EXPECT_TRUE(std::holds_alternative<granted>(latch.acquire(waiter)));

  const demand two{.mode = 'b', .limit = 2};
  claim first = claims.next(), second = claims.next();
  first.wants = second.wants = &two;
  first.waits = second.waits = true;
  EXPECT_TRUE(std::holds_alternative<queued>(barrier.acquire(first))) << "it asks nobody";
  EXPECT_EQ(barrier.withdraw(first), release_verdict(not_mine{}));
  first.way = second.way = wakeup_way::poll;
  EXPECT_TRUE(std::holds_alternative<queued>(barrier.acquire(first)));
  EXPECT_TRUE(std::holds_alternative<granted>(barrier.acquire(second)));
}

TEST_P(RestrictedUser, CanChangeValues) {
  log_in({"client", "values"});
  const value_key stock{key_space{}, "counter", "stock"};
  const value_key mails{key_space{}, "rate", "mails"};
  const auto update = update_script("return value + 1");
  const auto fenced = fenced_script("return 1");
  std::uint64_t requests = 0;
  for (const auto& asked :
       {counter_add(stock, 7), counter_subtract(stock, 7, 0), counter_set(stock, 7),
        counter_update(stock, update, {}),
        rate_take(mails, milliseconds(9), milliseconds(9), milliseconds(1)),
        rate_give_back(mails, milliseconds(9), milliseconds(9), {}),
        fenced_write(key_space{}, fenced, {"hf:mine"}, {}, fencing_token{17})}) {
    const request_id id{client_id{{1}}, ++requests};
    const auto reply =
        redis().ask([&](auto& out) { write_once(key_space{}, asked, id, never, out); });
    EXPECT_TRUE(std::holds_alternative<once_answer>(read_once(reply))) << resp::to_string(reply);
  }
}

TEST_P(RestrictedUser, ChangesNothingWhenARightIsMissing) {
  for (const char* missing : {"-time", "-exists", "-set", "-eval"}) {
    log_in({"client"}, {missing});
    EXPECT_EQ(code_of(redis().acquire(claims.next())), errc::permission_denied) << missing;
  }
  log_in({"client"}, {"resetkeys", "~hf:{orders:42}"});
  EXPECT_EQ(code_of(redis().acquire(claims.next())), errc::permission_denied);
  EXPECT_EQ(server().command({"DBSIZE"}).number, 0);
}

// The first write is another command than the one that writes the answer down: a user that may do
// only the first does nothing. Otherwise it would get an error for a change that was made.
TEST_P(RestrictedUser, DoesNothingWhoseAnswerMayNotBeKept) {
  const value_key stock{key_space{}, "counter", "stock"};
  const value_key mails{key_space{}, "rate", "mails"};
  const lock_key gate{"gate"};
  server().command({"SET", stock.key, "7"});
  const std::string full = "5000000000000000";
  server().command({"SET", mails.key, full + ".000 1"});
  server().command({"SET", gate.value_key(), "1l:1"});
  log_in({"client", "values"}, {"-set"});
  const auto to_zero = update_script("return 0");
  script_client owner{server()};
  const auto before = owner.contents();
  const server_time due{microseconds(std::stoll(full)) - milliseconds(9)};
  std::uint64_t requests = 0;
  for (const auto& asked :
       {counter_add(stock, 5), counter_add(stock, -7), counter_set(stock, 0),
        counter_compare_and_set(stock, 7, 0), counter_update(stock, to_zero, {}),
        rate_give_back(mails, std::chrono::hours(24 * 365 * 200), milliseconds(9), due),
        latch_count_down(gate, 1)}) {
    const request_id id{client_id{{1}}, ++requests};
    const auto reply =
        redis().ask([&](auto& out) { write_once(key_space{}, asked, id, never, out); });
    EXPECT_EQ(code_of(read_once(reply)), errc::permission_denied) << resp::to_string(reply);
    EXPECT_EQ(owner.contents(), before) << requests;
  }
}

}  // namespace
}  // namespace holdfast::dialects
