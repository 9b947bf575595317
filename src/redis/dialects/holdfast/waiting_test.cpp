#include "redis/dialects/holdfast/waiting.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/dialects/holdfast/layout.hpp"

namespace holdfast::dialects {
namespace {

const client_id us({0x0f, 0x1e, 0x2d});
const client_id others({0x0f, 0x1e, 0x2e});
const std::string ours = std::string{us.text()} + "-2a";

claim waiting(milliseconds lease, wakeup_way way) {
  return {.key = nullptr,
          .owner = request_id{us, 0x2a},
          .lease = lease,
          .way = way,
          .proof = 0x0123456789abcdef};
}

TEST(place_suffix, tells_the_family_how_long_the_claim_is_how_to_tell_him_and_the_proof) {
  const auto text = [](family whose, milliseconds lease, wakeup_way way) {
    return std::string{place_suffix{whose, waiting(lease, way)}.text()};
  };
  using enum wakeup_way;
  EXPECT_EQ(text(family::mutex, milliseconds(30'000), channel), ":o1000:-0123456789abcdef");
  EXPECT_EQ(text(family::latch, milliseconds(400), channel), ":l400:-0123456789abcdef");
  EXPECT_EQ(text(family::barrier, milliseconds(30'000), poll), ":b250:p0123456789abcdef");
  EXPECT_EQ(text(family::several, milliseconds(10), poll), ":10:p0123456789abcdef");
}

TEST(channel, is_the_clients_own) {
  EXPECT_EQ(channel_of(key_space{}, us), "hf:c:" + std::string{us.text()});
}

TEST(channel, begins_as_the_keys_of_the_tenant_do) {
  const key_space blue{"blue"};
  const auto channel = "hf:@blue:c:" + std::string{us.text()};
  EXPECT_EQ(channel_of(blue, us), channel);
  EXPECT_EQ(channel_of(us, lock_key{blue, "a{b}"}), channel + ":{a%7Bb%7D}");
}

// A message that names a lock of another tenant's is none.
TEST(channel_message, names_a_lock_of_the_tenant) {
  const key_space blue{"blue"};
  const auto said = "grant " + ours + " 17 1000 17 ff ";
  EXPECT_EQ(std::get<handed_over>(*read_message(blue, us, said + "hf:@blue:{a}")).name, "a");
  for (const auto* const key : {"hf:{a}", "hf:@green:{a}", "hf:@blue:{}", "hf:@blue:a"}) {
    EXPECT_FALSE(read_message(blue, us, said + key)) << key;
  }
  EXPECT_FALSE(read_message(key_space{}, us, said + "hf:@blue:{a}"));
}

TEST(channel_message, tells_of_a_grant) {
  const auto said = read_message(
      key_space{}, us, "grant " + ours + " 1795240014867674 1000 1795240014867000 ff hf:{a %7Bb}");
  const handed_over expected{.request = 0x2a,
                             .revocable = false,
                             .of = family::mutex,
                             .major = 1795240014867674,
                             .claim = milliseconds(1000),
                             .at = server_time(microseconds(1795240014867000)),
                             .proof = 0xff,
                             .name = "a {b"};
  ASSERT_TRUE(said);
  EXPECT_EQ(std::get<handed_over>(*said), expected);
}

TEST(channel_message, says_whose_waiters_it_is_for) {
  const auto told = [](const std::string& word) {
    return std::get<handed_over>(
               *read_message(key_space{}, us, word + " " + ours + " 17 1000 17 ff hf:{a}"))
        .of;
  };
  EXPECT_EQ(told("grant"), family::mutex);
  EXPECT_EQ(told("shared"), family::several);
  EXPECT_EQ(told("opened"), family::latch);
  EXPECT_EQ(told("complete"), family::barrier);
}

class grant_message : public testing::Test {
 protected:
  grant_message() : claim_(waiting(milliseconds(30'000), wakeup_way::channel)) {
    claim_.key = &key_;
  }

  const lock_key key_{"a"};
  claim claim_;
  handed_over said_{.request = 0x2a,
                    .major = 1'000'000'000'000,
                    .claim = milliseconds(1000),
                    .at = server_time(microseconds(1'000'000'000'000)),
                    .proof = 0x0123456789abcdef,
                    .name = "a"};
};

TEST_F(grant_message, is_for_the_request_whose_queue_it_proves_to_know) {
  EXPECT_TRUE(is_for(said_, family::mutex, claim_));
  for (const family other : {family::none, family::several, family::latch, family::barrier}) {
    EXPECT_FALSE(is_for(said_, other, claim_));
  }
  const auto differs = [&](auto change) {
    handed_over other = said_;
    change(other);
    return !is_for(other, family::mutex, claim_);
  };
  EXPECT_TRUE(differs([](auto& said) { said.request = 0x2b; }));
  EXPECT_TRUE(differs([](auto& said) { said.proof ^= 1; }));
  EXPECT_TRUE(differs([](auto& said) { said.name = "b"; }));
  EXPECT_TRUE(differs([](auto& said) { said.of = family::several; }));
}

TEST_F(grant_message, is_not_plausible_with_a_longer_claim_than_was_asked_for) {
  EXPECT_TRUE(is_plausible(said_, claim_));
  said_.claim = milliseconds(1001);
  EXPECT_FALSE(is_plausible(said_, claim_));
  claim_.delay = short_milliseconds(1);
  EXPECT_TRUE(is_plausible(said_, claim_));
  claim_.way = wakeup_way::poll;
  EXPECT_FALSE(is_plausible(said_, claim_));
}

TEST_F(grant_message, is_not_plausible_with_a_major_far_ahead_of_the_servers_clock) {
  said_.major += longest_lead.count();
  EXPECT_TRUE(is_plausible(said_, claim_));
  ++said_.major;
  EXPECT_FALSE(is_plausible(said_, claim_));
}

TEST(channel_message, tells_that_a_kept_lock_is_wanted) {
  const auto said = read_message(key_space{}, us, "wanted " + ours + "r");
  ASSERT_TRUE(said);
  EXPECT_EQ(std::get<wanted>(*said), wanted{0x2a});
}

TEST(channel_message, is_nothing_when_it_is_for_somebody_else_or_makes_no_sense) {
  const std::string rest = " 17 1000 1795240014867000 ff hf:{a}";
  EXPECT_TRUE(read_message(key_space{}, us, "grant " + ours + rest));
  EXPECT_FALSE(read_message(key_space{}, others, "grant " + ours + rest));
  for (const std::string& text : std::vector<std::string>{
           std::string{}, std::string{"grant"}, "grant " + ours, "grant " + ours + " 17 1000",
           "grant " + ours + "x" + rest, "grant " + std::string{us.text()} + rest,
           "grant " + ours + " -17 1000 1795240014867000 ff hf:{a}",
           "grant " + ours + " 17 3601001 1795240014867000 ff hf:{a}",
           "grant " + ours + " 9999999999999999 1000 1795240014867000 ff hf:{a}",
           "grant " + ours + " 17 1000 99999999999999999999 ff hf:{a}",
           "grant " + ours + " 17 1000 1795240014867000 ff a", "granted " + ours + rest,
           "grant " + ours + " 17 1000 1795240014867000 ff hf:{}",
           "grant " + ours + " 17 1000 1795240014867000 ff hf:{" + std::string(513, 'a') + "}",
           "grant " + ours + " 17 1000 1795240014867000 hf:{a}",
           "grant " + ours + " 17 1000 1795240014867000 fg hf:{a}",
           "grant " + ours + " 17 1000 1795240014867000 11111111111111111 hf:{a}",
           std::string{"wanted"}, std::string{"wanted x"}}) {
    EXPECT_FALSE(read_message(key_space{}, us, text)) << text;
  }
}

}  // namespace
}  // namespace holdfast::dialects
