#include "redis/dialects/holdfast/mutex.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

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
using resp::simple;

constexpr token_major major = 1795240014867674;
constexpr server_time deadline{microseconds(1795240014000000)};
const client_id client{{0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x69, 0x78, 0x87, 0x96, 0xa5, 0xb4,
                        0xc3, 0xd2, 0xe1, 0xf0}};
const std::string owner = "0f1e2d3c4b5a69788796a5b4c3d2e1f0-2a";
const lock_key key{"orders:42"};

claim some_claim(token_major granted = 0) {
  return {.key = &key,
          .owner = request_id{client, 0x2a},
          .lease = milliseconds(30'000),
          .floor = 17,
          .granted = granted};
}

const recipe& fenced() {
  static const mutex_recipe it{fencing::on};
  return it;
}
const recipe& unfenced() {
  static const mutex_recipe it{fencing::off};
  return it;
}

// "*2\r\n$3\r\nGET\r\n..." of these words.
std::string command(const std::vector<std::string>& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return bytes;
}

std::string evalsha(const resp::script& script, int keys, const std::vector<std::string>& rest) {
  std::vector<std::string> words{"EVALSHA", std::string{script.sha1}, std::to_string(keys)};
  words.insert(words.end(), rest.begin(), rest.end());
  return command(words);
}

template <typename Write>
std::string written(Write write) {
  std::string bytes;
  resp::writer out{bytes};
  write(out);
  EXPECT_TRUE(out.finished());
  return bytes;
}

std::vector<std::string> keys_and(std::vector<std::string> arguments) {
  std::vector<std::string> all = {"hf:{orders:42}", "hf:{orders:42}:w", "hf:{orders:42}:i",
                                  key.fence_key()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

std::string acquire_bytes(const recipe& how, bool resend) {
  return written([&](auto& out) { how.write_acquire(some_claim(), resend, deadline, out); });
}

acquire_verdict acquired(const recipe& how, const resp::value& v) {
  return how.read_acquire(some_claim(), v);
}

// The code of a refusal, and that it explains itself.
template <typename Verdict>
errc reason(const Verdict& verdict) {
  const auto* why = std::get_if<refused>(&verdict);
  EXPECT_NE(why, nullptr);
  if (why == nullptr) return errc::busy;
  EXPECT_GT(why->detail.size(), 20U);
  return why->code;
}

TEST(mutex_recipe, asks_with_everything_that_the_script_needs) {
  const std::string expected =
      evalsha(scripts::holdfast_acquire, 4, keys_and({owner, "30000", "1795240014000000", "17"}));
  EXPECT_EQ(acquire_bytes(fenced(), false), expected);
  EXPECT_EQ(acquire_bytes(fenced(), true), expected);
}

TEST(mutex_recipe, asks_for_a_place_in_the_queue_when_it_waits) {
  claim waits = some_claim();
  waits.waits = true;
  waits.ticket = 99;
  waits.queue_limit = 7;
  EXPECT_EQ(written([&](auto& out) { fenced().write_acquire(waits, false, deadline, out); }),
            evalsha(scripts::holdfast_acquire, 4,
                    keys_and({owner, "30000", "1795240014000000", "17", ":o1000:-0000000000000000",
                              "99", "7"})));
}

TEST(mutex_recipe, asks_first_with_a_plain_set_when_there_are_no_tokens) {
  EXPECT_EQ(acquire_bytes(unfenced(), false),
            command({"SET", "hf:{orders:42}", "1:0:" + owner, "NX", "PX", "30000"}));
  EXPECT_EQ(
      acquire_bytes(unfenced(), true),
      evalsha(scripts::holdfast_acquire, 4, keys_and({owner, "30000", "1795240014000000", "17"})));
}

TEST(mutex_recipe, renews_each_claim_with_its_own_value_and_lease) {
  const lock_key other{"b"};
  claim first = some_claim(major), second = some_claim(0);
  second.key = &other;
  second.lease = milliseconds(500);
  const std::array<const claim*, 2> both{&first, &second};
  EXPECT_EQ(written([&](auto& out) { fenced().write_renew(both, deadline, out); }),
            evalsha(scripts::holdfast_renew, 2,
                    {"hf:{orders:42}", "hf:{b}", "1795240014000000", "1:1795240014867674:" + owner,
                     "30000", "1:0:" + owner, "500"}));
}

TEST(mutex_recipe, gives_back_by_value_or_by_owner) {
  EXPECT_EQ(written([](auto& out) { fenced().write_release(some_claim(major), out); }),
            evalsha(scripts::holdfast_release, 4, keys_and({"1:1795240014867674:" + owner})));
  EXPECT_EQ(written([](auto& out) { unfenced().write_release(some_claim(0), out); }),
            evalsha(scripts::holdfast_release, 4, keys_and({"1:0:" + owner})));
  EXPECT_EQ(written([](auto& out) { fenced().write_lone_release(some_claim(major), out); }),
            evalsha(scripts::token_release, 1, {"hf:{orders:42}", "1:1795240014867674:" + owner}));
  EXPECT_EQ(written([](auto& out) { fenced().write_withdraw(some_claim(), out); }),
            evalsha(scripts::holdfast_withdraw, 4, keys_and({owner, ":o1000:-0000000000000000"})));
  EXPECT_EQ(written([](auto& out) { fenced().write_withdraw(some_claim(major), out); }),
            evalsha(scripts::holdfast_withdraw, 4,
                    keys_and({owner, ":o1000:-0000000000000000", "1795240014867674"})));
}

TEST(mutex_recipe, reads_grants) {
  EXPECT_EQ(acquired(fenced(), integer(major)),
            acquire_verdict(granted{major, milliseconds(30'000)}));
  EXPECT_EQ(acquired(fenced(), array({bulk("mine"), bulk("17"), integer(45'000)})),
            acquire_verdict(granted{17, milliseconds(45'000)}));
  EXPECT_EQ(acquired(fenced(), integer(std::int64_t{1} << 52)),
            acquire_verdict(granted{token_major{1} << 52, milliseconds(30'000)}));
  EXPECT_EQ(acquired(unfenced(), simple("OK")), acquire_verdict(granted{0, milliseconds(30'000)}));
  EXPECT_EQ(acquired(unfenced(), array({bulk("mine"), bulk("0"), integer(1)})),
            acquire_verdict(granted{0, milliseconds(1)}));
}

TEST(mutex_recipe, reads_busy_and_late) {
  EXPECT_EQ(acquired(fenced(), integer(-250)), acquire_verdict(busy{milliseconds(250)}));
  EXPECT_EQ(acquired(fenced(), integer(0)), acquire_verdict(busy{milliseconds(0)}));
  EXPECT_EQ(acquired(unfenced(), integer(-250)), acquire_verdict(busy{milliseconds(250)}));
  EXPECT_EQ(acquired(unfenced(), null()), acquire_verdict(busy{}));
  EXPECT_EQ(acquired(fenced(), array({bulk("late"), integer(1795240014000001)})),
            acquire_verdict(late{deadline + microseconds(1)}));
}

TEST(mutex_recipe, tells_times_that_no_lock_has_as_ten_years) {
  EXPECT_EQ(acquired(fenced(), integer(INT64_MIN)), acquire_verdict(busy{longest_ttl}));
  EXPECT_EQ(acquired(fenced(), integer(-longest_ttl.count() - 1)),
            acquire_verdict(busy{longest_ttl}));
  EXPECT_EQ(acquired(fenced(), array({bulk("mine"), bulk("17"), integer(INT64_MAX)})),
            acquire_verdict(granted{17, longest_ttl}));
}

TEST(mutex_recipe, explains_why_an_acquire_is_refused) {
  EXPECT_EQ(reason(acquired(fenced(), array({bulk("foreign")}))), errc::foreign_key);
  EXPECT_EQ(reason(acquired(fenced(), array({bulk("persistent")}))), errc::foreign_key);
  EXPECT_EQ(reason(acquired(fenced(), array({bulk("layout"), bulk("2")}))), errc::layout_version);
  EXPECT_EQ(reason(acquired(fenced(), array({bulk("skew"), integer(1)}))), errc::clock_skew);
  EXPECT_EQ(reason(acquired(fenced(), array({bulk("counter"), bulk("9e99")}))), errc::clock_skew);
  EXPECT_EQ(reason(acquired(fenced(), error("WRONGTYPE Operation against a key"))),
            errc::foreign_key);
  const auto oom = acquired(fenced(), error("OOM command not allowed when used memory"));
  EXPECT_EQ(reason(oom), errc::out_of_memory);
  EXPECT_TRUE(std::get<refused>(oom).passing);
  const auto foreign = acquired(fenced(), array({bulk("foreign")}));
  EXPECT_NE(std::get<refused>(foreign).detail.find("hf:{orders:42}"), std::string::npos);
}

// Where there are no tokens only the first attempt does without a major: a script always draws one.
TEST(mutex_recipe, refuses_answers_of_the_other_kind_of_mutex) {
  EXPECT_EQ(reason(acquired(fenced(), simple("OK"))), errc::server_error);
  EXPECT_EQ(reason(acquired(fenced(), null())), errc::server_error);
  EXPECT_EQ(reason(acquired(fenced(), array({bulk("mine"), bulk("0"), integer(1)}))),
            errc::server_error);
  EXPECT_EQ(acquired(unfenced(), array({bulk("mine"), bulk("17"), integer(1)})),
            acquire_verdict(granted{17, milliseconds(1)}));
}

TEST(mutex_recipe, refuses_acquire_answers_that_it_does_not_know) {
  const std::vector<resp::value> strange = {
      integer((std::int64_t{1} << 52) + 1),
      integer(INT64_MAX),
      simple("QUEUED"),
      bulk("17"),
      resp::boolean(true),
      array({}),
      array({integer(1)}),
      array({bulk("mine"), bulk("17")}),
      array({bulk("mine"), bulk("17x"), integer(1)}),
      array({bulk("mine"), bulk("4503599627370497"), integer(1)}),
      array({bulk("mine"), bulk("99999999999999999999"), integer(1)}),
      array({bulk("mine"), bulk("17"), integer(-1)}),
      array({bulk("late")}),
      array({bulk("late"), integer(-1)}),
      array({bulk("late"), integer(INT64_MAX)}),
      array({bulk("late"), bulk("17")}),
      array({bulk("layout"), integer(2)}),
      array({bulk("counter")}),
      resp::list(resp::type::push, {bulk("foreign")}),
  };
  for (const resp::value& v : strange) {
    EXPECT_EQ(reason(acquired(fenced(), v)), errc::server_error) << resp::to_string(v);
  }
}

TEST(mutex_recipe, reads_places_in_the_queue) {
  const auto answer = array({bulk("queued"), integer(3), integer(1500), bulk("1795240014000009"),
                             integer(1795240014000000)});
  EXPECT_EQ(acquired(fenced(), answer),
            acquire_verdict(queued{3, milliseconds(1500), 1795240014000009, deadline}));
  EXPECT_EQ(acquired(fenced(), array({bulk("more")})), acquire_verdict(unfinished{}));
  EXPECT_EQ(reason(acquired(fenced(), array({bulk("full"), bulk("7")}))), errc::queue_full);
  EXPECT_EQ(reason(acquired(
                fenced(), array({bulk("queued"), integer(-1), integer(0), bulk("1"), integer(1)}))),
            errc::server_error);
}

TEST(mutex_recipe, reads_a_verdict_for_each_renewal) {
  const auto answer = array({integer(30'000), integer(0), bulk("WRONGTYPE Operation against a key"),
                             bulk("READONLY You can't write against a read only replica."),
                             integer(INT64_MAX), integer(-1), null()});
  const auto read = [&](std::size_t i) { return fenced().read_renew(answer, i); };
  EXPECT_EQ(read(0), renew_verdict(renewed{milliseconds(30'000)}));
  EXPECT_EQ(read(1), renew_verdict(not_mine{}));
  EXPECT_EQ(read(2), renew_verdict(not_mine{}));
  EXPECT_EQ(reason(read(3)), errc::read_only);
  EXPECT_EQ(read(4), renew_verdict(renewed{longest_ttl}));
  EXPECT_EQ(reason(read(5)), errc::server_error);
  EXPECT_EQ(reason(read(6)), errc::server_error);
  EXPECT_EQ(reason(read(7)), errc::server_error);
}

TEST(mutex_recipe, reads_what_concerns_a_whole_renewal) {
  const auto late_answer = array({bulk("late"), integer(1795240014000000)});
  EXPECT_EQ(fenced().read_renew(late_answer, 0), renew_verdict(late{deadline}));
  EXPECT_EQ(fenced().read_renew(late_answer, 99), renew_verdict(late{deadline}));
  EXPECT_EQ(reason(fenced().read_renew(error("LOADING Redis is loading"), 3)), errc::loading);
}

TEST(mutex_recipe, reads_releases) {
  EXPECT_EQ(fenced().read_release(integer(1)), release_verdict(released{}));
  EXPECT_EQ(fenced().read_release(integer(0)), release_verdict(not_mine{}));
  EXPECT_EQ(fenced().read_release(error("WRONGTYPE Operation")), release_verdict(not_mine{}));
  EXPECT_EQ(reason(fenced().read_release(error("NOREPLICAS Not enough"))), errc::no_replicas);
  EXPECT_EQ(fenced().read_release(integer(2)), release_verdict(unfinished{}));
  EXPECT_EQ(reason(fenced().read_release(integer(3))), errc::server_error);
  EXPECT_EQ(reason(fenced().read_release(null())), errc::server_error);
}

void check_acquire(const recipe& how, bool has_tokens, const resp::value& v) {
  const auto verdict = acquired(how, v);
  if (const auto* grant = std::get_if<granted>(&verdict)) {
    EXPECT_TRUE(grant->major != 0 || !has_tokens) << resp::to_string(v);
    EXPECT_LE(grant->major, token_major{1} << 52);
    EXPECT_GE(grant->ttl, milliseconds(0));
    EXPECT_LE(grant->ttl, longest_ttl);
  } else if (const auto* held = std::get_if<busy>(&verdict)) {
    EXPECT_GE(held->remaining.value_or(milliseconds(0)), milliseconds(0));
    EXPECT_LE(held->remaining.value_or(milliseconds(0)), longest_ttl);
  } else if (std::holds_alternative<refused>(verdict)) {
    reason(verdict);
  }
}

TEST(mutex_recipe, makes_a_sound_verdict_of_whatever_is_answered) {
  random_replies replies{20261121};
  for (int i = 0; i < 100'000; ++i) {
    const resp::value v = replies.next();
    check_acquire(fenced(), true, v);
    check_acquire(unfenced(), false, v);
    for (const std::size_t index : {0, 1, 4, 99}) {
      const auto verdict = fenced().read_renew(v, index);
      if (const auto* now = std::get_if<renewed>(&verdict)) {
        EXPECT_GT(now->ttl, milliseconds(0));
        EXPECT_LE(now->ttl, longest_ttl);
      } else if (std::holds_alternative<refused>(verdict)) {
        reason(verdict);
      }
    }
    const auto given_back = fenced().read_release(v);
    if (std::holds_alternative<refused>(given_back)) reason(given_back);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace holdfast::dialects
