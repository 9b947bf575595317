#include "redis/dialects/holdfast/inspect.hpp"

#include <gtest/gtest.h>

#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"
#include "redis/dialects/holdfast/random_replies_for_tests.hpp"
#include "redis/resp/sample_replies_for_tests.hpp"

namespace holdfast::dialects {
namespace {

using resp::array;
using resp::bulk;
using resp::error;
using resp::integer;
using resp::null;

const lock_key key{"orders:42"};
const std::string client = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
constexpr std::int64_t now = 1795240014867674;

resp::value looked(const char* type, resp::value value, std::int64_t ttl) {
  return array({bulk(type), std::move(value), integer(ttl), integer(now), integer(0), array({}),
                null(), null()});
}

resp::value looked(resp::value summary, resp::value fields) {
  const auto count = static_cast<std::int64_t>(fields.items.size() / 2);
  return looked("hash", array({std::move(summary), integer(count), std::move(fields)}), 1500);
}

TEST(inspect, asks_the_script) {
  std::string bytes;
  resp::writer out{bytes};
  write_inspect(key, out);
  EXPECT_EQ(bytes, "*7\r\n$7\r\nEVALSHA\r\n$40\r\n" + std::string{scripts::holdfast_inspect.sha1} +
                       "\r\n$1\r\n4\r\n$14\r\nhf:{orders:42}\r\n$16\r\nhf:{orders:42}:w\r\n" +
                       "$16\r\nhf:{orders:42}:n\r\n$" + std::to_string(key.fence_key().size()) +
                       "\r\n" + key.fence_key() + "\r\n");
}

TEST(inspect, tells_who_holds_a_lock) {
  const auto verdict = read_inspect(looked("string", bulk("1:17:" + client + "-2a"), 1500));
  const lock_held expected{.major = 17,
                           .client = client,
                           .owner = "0f1e2d3c4b5a6978-2a",
                           .ttl = milliseconds(1500),
                           .now = server_time(microseconds(now))};
  EXPECT_EQ(verdict, inspect_verdict(expected));
}

TEST(inspect, tells_when_the_last_grant_was_made_if_its_major_is_ahead_of_the_clock) {
  auto answer = looked("string", bulk("1:17:" + client + "-2a"), 1500);
  EXPECT_EQ(std::get<lock_held>(read_inspect(answer)).last, counted_grant{});
  answer.items[7] = bulk("17 5");
  const counted_grant last{17, server_time(microseconds(5))};
  EXPECT_EQ(std::get<lock_held>(read_inspect(answer)).last, last);
  answer = looked(bulk("1m:5:9:0:0:0:1:0:0:0:0"), array({bulk("a"), bulk("r1:2:1895240014867")}));
  answer.items[7] = bulk("17 5");
  EXPECT_EQ(std::get<lock_shared>(read_inspect(answer)).last, last);
}

TEST(inspect, tells_a_lock_without_expiry_and_one_of_another_program) {
  const auto verdict = read_inspect(looked("string", bulk("1:0:somebody"), -1));
  const auto& held = std::get<lock_held>(verdict);
  EXPECT_EQ(held.major, 0U);
  EXPECT_EQ(held.client, "");
  EXPECT_EQ(held.owner, "somebody");
  EXPECT_EQ(held.ttl, std::nullopt);
}

TEST(inspect, tells_a_free_lock) {
  EXPECT_EQ(read_inspect(looked("none", null(), -2)), inspect_verdict(lock_free{}));
}

TEST(inspect, tells_what_is_foreign_without_showing_it) {
  const auto list = std::get<lock_foreign>(read_inspect(looked("list", null(), -1)));
  EXPECT_EQ(list, (lock_foreign{errc::foreign_key, "a list that is not a Holdfast lock"}));
  const auto text = std::get<lock_foreign>(read_inspect(looked("string", bulk("secret"), -1)));
  EXPECT_EQ(text, (lock_foreign{errc::foreign_key, "a string that is not a Holdfast lock"}));
  const auto newer = std::get<lock_foreign>(read_inspect(looked("string", bulk("2:x"), -1)));
  EXPECT_EQ(newer, (lock_foreign{errc::layout_version, "a lock of layout version 2"}));
}

TEST(inspect, tells_latches_and_barriers) {
  const auto verdict_on = [](const char* value) {
    return read_inspect(looked("string", bulk(value), -1));
  };
  EXPECT_EQ(verdict_on("1l:3"), inspect_verdict(lock_gate{'l', 3}));
  EXPECT_EQ(verdict_on("1b:5:1795240014867674"), inspect_verdict(lock_gate{'b', 5}));
  for (const auto* const broken : {"1l:", "1l:x", "1l:3:4", "1b:", "1l:4294967296", "1b:5x"}) {
    EXPECT_TRUE(std::holds_alternative<lock_foreign>(verdict_on(broken))) << broken;
  }
}

TEST(inspect, refuses_what_it_does_not_know) {
  EXPECT_EQ(std::get<refused>(read_inspect(error("NOPERM no"))).code, errc::permission_denied);
  for (const auto& v : {null(), integer(1), array({}), array({bulk("string")}),
                        looked("string", null(), 1), looked("string", integer(1), 1),
                        array({bulk("string"), bulk("1:17:x"), integer(1), integer(-1)})}) {
    EXPECT_EQ(std::get<refused>(read_inspect(v)).code, errc::server_error) << resp::to_string(v);
  }
}

TEST(inspect, tells_who_waits) {
  auto answer = looked("none", null(), -2);
  answer.items[4] = integer(2);
  answer.items[5] = array({bulk(client + "-2a:o1000:-00000000000000ff"), bulk("1795240014000000"),
                           bulk("somebody"), bulk("nonsense")});
  const auto queue = read_queue(answer);
  EXPECT_EQ(queue.waiting, 2U);
  ASSERT_EQ(queue.first.size(), 2U);
  EXPECT_EQ(queue.first[0], (lock_queue::place{client, "0f1e2d3c4b5a6978-2a",
                                               server_time(microseconds(1795240014000000))}));
  EXPECT_EQ(queue.first[1], (lock_queue::place{{}, "somebody", server_time{}}));
  EXPECT_EQ(queue.whose, family::mutex);
  EXPECT_EQ(read_queue(error("NOPERM no")), lock_queue{});
}

TEST(inspect, tells_whose_queue_it_is) {
  const auto whose = [](const std::string& behind) {
    auto answer = looked("none", null(), -2);
    answer.items[4] = integer(1);
    answer.items[5] = array({bulk(client + "-2a:" + behind), bulk("17")});
    return read_queue(answer).whose;
  };
  EXPECT_EQ(whose("o1000:-ff"), family::mutex);
  EXPECT_EQ(whose("r1/0::1000:-ff"), family::several);
  EXPECT_EQ(whose("s1/2::1000:-ff"), family::several);
  EXPECT_EQ(whose("l1000:-ff"), family::latch);
  EXPECT_EQ(whose("b1000:-ff"), family::barrier);
  EXPECT_EQ(whose("1000:-ff"), family::none);
}

TEST(inspect, tells_who_holds_together_in_the_order_of_their_grants) {
  const auto ms = [](std::int64_t more) { return std::to_string(now / 1000 + more); };
  const auto verdict = read_inspect(
      looked(bulk("1m:5:9:0:0:0:2:0:0:1:0"),
             array({bulk("b"), bulk("r1:19:" + ms(700)), bulk("="), bulk("1m:"),
                    bulk(client + "-2a"), bulk("u1:17:" + ms(900) + ":old:r1:3"), bulk("dead"),
                    bulk("r1:18:" + ms(-1)), bulk("junk"), bulk("z9:x")})));
  const auto& held = std::get<lock_shared>(verdict);
  EXPECT_EQ(held.family, 'm');
  EXPECT_EQ(held.count, 2U);
  ASSERT_EQ(held.holders.size(), 2U);
  EXPECT_EQ(held.holders[0], (shared_holder{.has = {'u', 1},
                                            .major = 17,
                                            .client = client,
                                            .owner = "0f1e2d3c4b5a6978-2a",
                                            .until = server_time(milliseconds(now / 1000 + 900))}));
  EXPECT_EQ(held.holders[1].owner, "b");
}

TEST(inspect, counts_permits_in_use_and_shows_a_hundred_holders) {
  auto fields = array({});
  for (int i = 0; i < 150; ++i) {
    fields.items.push_back(bulk("r" + std::to_string(i)));
    fields.items.push_back(bulk("s2:" + std::to_string(100 + i) + ":1895240014867"));
  }
  auto answer = looked(bulk("1s:5:9:0:0:0:0:0:0:0:300"), fields);
  answer.items[6] = bulk("400");
  const auto held = std::get<lock_shared>(read_inspect(answer));
  EXPECT_EQ(held.holders.size(), 100U);
  EXPECT_EQ(held.count, 150U);
  EXPECT_EQ(held.in_use, 300U);
  EXPECT_EQ(read_queue(answer).permits, 400U);
}

TEST(inspect, takes_a_lock_whose_leases_have_ended_for_free_and_another_hash_for_foreign) {
  EXPECT_EQ(
      read_inspect(looked(bulk("1m:5:9:0:0:0:1:0:0:0:0"), array({bulk("a"), bulk("r1:2:3")}))),
      inspect_verdict(lock_free{}));
  const auto code = [](resp::value summary) {
    return std::get<lock_foreign>(read_inspect(looked(std::move(summary), array({})))).code;
  };
  EXPECT_EQ(code(null()), errc::foreign_key);
  EXPECT_EQ(code(bulk("2m:1")), errc::layout_version);
}

TEST(inspect, tells_what_those_want_who_wait) {
  auto answer = looked("none", null(), -2);
  answer.items[4] = integer(2);
  answer.items[5] =
      array({bulk(client + "-2a:x1/0:" + client + "-1:1000:-00000000000000ff"),
             bulk("-2708359612502822"), bulk(client + "-2b:s3/5::1000:p"), bulk("17")});
  const auto queue = read_queue(answer);
  ASSERT_EQ(queue.first.size(), 2U);
  EXPECT_EQ(queue.first[0].wants, (share{'x', 1}));
  EXPECT_EQ(queue.first[0].since, server_time(microseconds(1795240014867674)));
  EXPECT_EQ(queue.first[1].wants, (share{'s', 3}));
}

TEST(break_shared, tells_all_that_was_broken) {
  const auto was = read_break_shared(
      key, array({bulk("broken"), integer(7),
                  array({bulk("b"), bulk("s2:19:5"), bulk(client + "-2a"), bulk("s1:17:5")})}));
  const auto& broken = std::get<shared_broken>(was);
  ASSERT_EQ(broken.holders.size(), 2U);
  EXPECT_EQ(broken.holders[0].owner, "0f1e2d3c4b5a6978-2a");
  EXPECT_EQ(broken.holders[1].has, (share{'s', 2}));
  EXPECT_EQ(broken.count, 7U);
  EXPECT_EQ(read_break_shared(key, array({bulk("free")})), break_shared_verdict(lock_free{}));
  EXPECT_EQ(std::get<refused>(read_break_shared(key, array({bulk("foreign")}))).code,
            errc::foreign_key);
  EXPECT_EQ(std::get<refused>(read_break_shared(key, integer(1))).code, errc::server_error);
}

TEST(break_lock, asks_the_script) {
  std::string bytes;
  resp::writer out{bytes};
  write_break(key, server_time{microseconds{17}}, out);
  EXPECT_TRUE(bytes.starts_with("*8\r\n$7\r\nEVALSHA\r\n"));
  EXPECT_NE(bytes.find(scripts::holdfast_break_lock.sha1), bytes.npos);
  EXPECT_TRUE(bytes.ends_with(key.fence_key() + "\r\n$2\r\n17\r\n"));
}

TEST(break_lock, tells_what_was_broken) {
  EXPECT_EQ(read_break(key, array({bulk("broken"), bulk("1:17:" + client + "-2a")})),
            break_verdict(lock_broken{17, client, "0f1e2d3c4b5a6978-2a"}));
  EXPECT_EQ(read_break(key, array({bulk("free")})), break_verdict(lock_free{}));
}

TEST(break_lock, refuses_what_is_not_ours) {
  const auto code = [](const resp::value& v) { return std::get<refused>(read_break(key, v)).code; };
  EXPECT_EQ(code(array({bulk("foreign")})), errc::foreign_key);
  EXPECT_EQ(code(array({bulk("layout"), bulk("2")})), errc::layout_version);
  EXPECT_EQ(code(error("WRONGTYPE Operation")), errc::foreign_key);
  EXPECT_EQ(code(array({bulk("broken"), bulk("junk")})), errc::server_error);
  EXPECT_EQ(code(integer(1)), errc::server_error);
}

TEST(break_lock, never_quotes_an_owner) {
  const auto verdict = read_break(key, array({bulk("broke"), bulk("1:17:" + client + "-2a")}));
  EXPECT_EQ(std::get<refused>(verdict).detail.find(client), std::string::npos);
}

TEST(audit, is_one_bounded_stream) {
  std::string bytes;
  resp::writer out{bytes};
  write_audit(key_space{}, {.name = "n", .owner = "o", .major = 2, .by = "root", .reason = "stuck"},
              out);
  EXPECT_TRUE(out.finished());
  EXPECT_EQ(bytes,
            "*18\r\n$4\r\nXADD\r\n$8\r\nhf:audit\r\n$6\r\nMAXLEN\r\n$1\r\n=\r\n$4\r\n1000\r\n"
            "$1\r\n*\r\n$5\r\nevent\r\n$5\r\nbreak\r\n$4\r\nname\r\n$1\r\nn\r\n$5\r\nowner\r\n"
            "$1\r\no\r\n$5\r\ntoken\r\n$4\r\n4096\r\n$2\r\nby\r\n$4\r\nroot\r\n$6\r\nreason\r\n"
            "$5\r\nstuck\r\n");
}

TEST(inspect, makes_a_verdict_of_whatever_is_answered) {
  random_replies replies{1121};
  for (int i = 0; i < 100'000 && !HasFailure(); ++i) {
    const resp::value v = replies.next();
    const auto verdict = read_inspect(v);
    if (const auto* held = std::get_if<lock_held>(&verdict)) {
      EXPECT_LE(held->ttl.value_or(milliseconds(0)), longest_ttl);
      EXPECT_FALSE(held->owner.empty());
    }
    if (const auto* why = std::get_if<refused>(&verdict)) {
      EXPECT_GT(why->detail.size(), 20U);
    }
    const auto broken = read_break(key, v);
    if (const auto* why = std::get_if<refused>(&broken)) {
      EXPECT_GT(why->detail.size(), 20U);
    }
  }
}

}  // namespace
}  // namespace holdfast::dialects
