#include "dialects/holdfast/inspect.hpp"

#include <gtest/gtest.h>

#include "dialects/holdfast/answers.hpp"
#include "dialects/holdfast/random_replies.hpp"
#include "holdfast_scripts.hpp"
#include "resp/sample_replies.hpp"

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
  return array({bulk(type), std::move(value), integer(ttl), integer(now), integer(0), array({})});
}

TEST(inspect, asks_the_script) {
  std::string bytes;
  resp::writer out{bytes};
  write_inspect(key, out);
  EXPECT_EQ(bytes, "*5\r\n$7\r\nEVALSHA\r\n$40\r\n" + std::string{scripts::holdfast_inspect.sha1} +
                       "\r\n$1\r\n2\r\n$14\r\nhf:{orders:42}\r\n$16\r\nhf:{orders:42}:w\r\n");
}

TEST(inspect, tells_who_holds_a_lock) {
  const auto verdict = read_inspect(looked("string", bulk("1:17:" + client + "-2a"), 1500));
  const lock_held expected{.major = 17,
                           .client = client,
                           .owner = "0f1e2d3c-2a",
                           .ttl = milliseconds(1500),
                           .now = server_time(microseconds(now))};
  EXPECT_EQ(verdict, inspect_verdict(expected));
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
  answer.items[5] = array(
      {bulk(client + "-2a:1000:-"), bulk("1795240014000000"), bulk("somebody"), bulk("nonsense")});
  const auto queue = read_queue(answer);
  EXPECT_EQ(queue.waiting, 2U);
  ASSERT_EQ(queue.first.size(), 2U);
  EXPECT_EQ(queue.first[0], (lock_queue::place{client, "0f1e2d3c-2a",
                                               server_time(microseconds(1795240014000000))}));
  EXPECT_EQ(queue.first[1], (lock_queue::place{{}, "somebody", server_time{}}));
  EXPECT_EQ(read_queue(error("NOPERM no")), lock_queue{});
}

TEST(break_lock, asks_the_script) {
  std::string bytes;
  resp::writer out{bytes};
  write_break(key, out);
  EXPECT_TRUE(bytes.starts_with("*7\r\n$7\r\nEVALSHA\r\n"));
  EXPECT_NE(bytes.find(scripts::holdfast_break_lock.sha1), bytes.npos);
  EXPECT_TRUE(bytes.ends_with(key.fence_key() + "\r\n"));
}

TEST(break_lock, tells_what_was_broken) {
  EXPECT_EQ(read_break(key, array({bulk("broken"), bulk("1:17:" + client + "-2a")})),
            break_verdict(lock_broken{17, client, "0f1e2d3c-2a"}));
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
  write_audit({.name = "n", .owner = "o", .major = 2, .by = "root", .reason = "stuck"}, out);
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
