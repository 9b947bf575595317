#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/dialects/holdfast/random_replies_for_tests.hpp"
#include "redis/dialects/holdfast/trail.hpp"
#include "redis/resp/sample_replies_for_tests.hpp"

namespace holdfast::dialects {
namespace {

using resp::array;
using resp::bulk;
using resp::error;
using resp::integer;

resp::value page(resp::value entry) {
  return array({integer(1'000'000), integer(7), array({std::move(entry)})});
}

// As of a grant at 900,000 ms that ended at 990,000.
resp::value entry(const char* id = "999990-0", const char* age = "-10") {
  return array({bulk(id), bulk("lost"), bulk("a"), bulk("mutex"), bulk("4096"), bulk("17"),
                bulk(age), bulk("90000"), bulk(""), bulk("web1"), bulk("4711"), bulk("shop"),
                bulk("c1")});
}

trail_entry only(const resp::value& said) {
  const auto verdict = read_trail(said);
  const auto* const found = std::get_if<stream_page<trail_entry>>(&verdict);
  EXPECT_TRUE(found != nullptr && found->entries.size() == 1);
  return found == nullptr || found->entries.empty() ? trail_entry{} : found->entries.front();
}

TEST(trail, is_written_many_entries_in_one_command) {
  std::string bytes;
  resp::writer out{bytes, resp::writer::scripts::by_text};
  const std::vector<trail_note> notes(trail_batch, trail_note{.name = "n"});
  const trail_author by{std::string(1000, 'h'), 1, std::string(1000, 'p'), "c"};
  write_trail({key_space{}, "trail"}, by, notes, monotonic_time{}, out);
  EXPECT_TRUE(out.finished());
  EXPECT_NE(bytes.find("$8\r\nhf:trail\r\n"), bytes.npos);
  EXPECT_NE(bytes.find("$128\r\nhhh"), bytes.npos) << "texts are cut";
}

TEST(trail, tells_times_by_the_servers_clock) {
  const auto found = only(page(entry("1000000-3", "10000")));
  EXPECT_EQ(found.what, trail_event::lost);
  EXPECT_EQ(found.kind, lock_kind::mutex);
  EXPECT_EQ(found.at, milliseconds{990'000});
  EXPECT_EQ(found.granted, milliseconds{900'000});
  EXPECT_EQ(found.by, (trail_author{"web1", 4711, "shop", "c1"}));
  EXPECT_EQ(only(page(entry("5-0", "99999999999999999"))).granted, milliseconds{0});
  EXPECT_EQ(only(page(entry())).at, milliseconds{999'990}) << "no age below zero";
}

TEST(trail, is_read_on_behind_the_last_entry) {
  const auto next = [](const char* id) {
    return std::get<stream_page<trail_entry>>(read_trail(page(entry(id)))).next;
  };
  EXPECT_EQ(next("5-0"), "5-1");
  EXPECT_EQ(next("5-18446744073709551615"), "6-0");
}

TEST(trail, says_what_is_wrong_with_an_answer) {
  const auto code = [](const resp::value& v) { return std::get<refused>(read_trail(v)).code; };
  EXPECT_EQ(code(error("WRONGTYPE Operation")), errc::foreign_key);
  EXPECT_EQ(code(page(entry("x"))), errc::server_error);
  EXPECT_EQ(code(integer(1)), errc::server_error);
  EXPECT_EQ(read_trail_written(integer(1)), std::nullopt);
  EXPECT_EQ(read_trail_written(error("NOPERM no"))->code, errc::permission_denied);
}

TEST(trail, makes_a_verdict_of_whatever_is_answered) {
  random_replies replies{32};
  for (int i = 0; i < 20'000 && !HasFailure(); ++i) {
    const auto verdict = read_trail(replies.next());
    if (const auto* why = std::get_if<refused>(&verdict)) {
      EXPECT_GT(why->detail.size(), 20U);
    }
    (void)read_breaks(page(replies.next()));
  }
}

}  // namespace
}  // namespace holdfast::dialects
