#include "dialects/holdfast/waiting.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::dialects {
namespace {

const client_id us({0x0f, 0x1e, 0x2d});
const client_id others({0x0f, 0x1e, 0x2e});
const std::string ours = std::string{us.text()} + "-2a";

claim waiting(milliseconds lease, wakeup_way way) {
  return {.key = nullptr, .owner = request_id{us, 0x2a}, .lease = lease, .way = way};
}

TEST(place_suffix, tells_how_long_the_claim_is_and_how_to_tell_him) {
  const auto text = [](milliseconds lease, wakeup_way way) {
    return std::string{place_suffix{waiting(lease, way)}.text()};
  };
  EXPECT_EQ(text(milliseconds(30'000), wakeup_way::channel), ":1000:-");
  EXPECT_EQ(text(milliseconds(400), wakeup_way::channel), ":400:-");
  EXPECT_EQ(text(milliseconds(30'000), wakeup_way::poll), ":250:p");
  EXPECT_EQ(text(milliseconds(10), wakeup_way::poll), ":10:p");
}

TEST(channel, is_the_clients_own) { EXPECT_EQ(channel_of(us), "hf:c:" + std::string{us.text()}); }

TEST(channel_message, tells_of_a_grant) {
  const auto said =
      read_message(us, "grant " + ours + " 1795240014867674 1000 1795240014867000 hf:{a %7Bb}");
  const handed_over expected{.request = 0x2a,
                             .revocable = false,
                             .major = 1795240014867674,
                             .claim = milliseconds(1000),
                             .at = server_time(microseconds(1795240014867000)),
                             .name = "a {b"};
  ASSERT_TRUE(said);
  EXPECT_EQ(std::get<handed_over>(*said), expected);
}

TEST(channel_message, tells_that_a_kept_lock_is_wanted) {
  const auto said = read_message(us, "wanted " + ours + "r");
  ASSERT_TRUE(said);
  EXPECT_EQ(std::get<wanted>(*said), wanted{0x2a});
}

TEST(channel_message, is_nothing_when_it_is_for_somebody_else_or_makes_no_sense) {
  const std::string rest = " 17 1000 1795240014867000 hf:{a}";
  EXPECT_TRUE(read_message(us, "grant " + ours + rest));
  EXPECT_FALSE(read_message(others, "grant " + ours + rest));
  for (const std::string& text : std::vector<std::string>{
           std::string{}, std::string{"grant"}, "grant " + ours, "grant " + ours + " 17 1000",
           "grant " + ours + "x" + rest, "grant " + std::string{us.text()} + rest,
           "grant " + ours + " -17 1000 1795240014867000 hf:{a}",
           "grant " + ours + " 17 3601001 1795240014867000 hf:{a}",
           "grant " + ours + " 9999999999999999 1000 1795240014867000 hf:{a}",
           "grant " + ours + " 17 1000 99999999999999999999 hf:{a}",
           "grant " + ours + " 17 1000 1795240014867000 a", "granted " + ours + rest,
           "grant " + ours + " 17 1000 1795240014867000 hf:{}",
           "grant " + ours + " 17 1000 1795240014867000 hf:{" + std::string(513, 'a') + "}",
           std::string{"wanted"}, std::string{"wanted x"}}) {
    EXPECT_FALSE(read_message(us, text)) << text;
  }
}

}  // namespace
}  // namespace holdfast::dialects
