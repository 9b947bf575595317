// The commands and answers of the layouts of other libraries, without a server.
#include "redis/dialects/foreign_recipe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "redis/dialects/base64.hpp"
#include "redis/dialects/redisson/redisson_recipe.hpp"
#include "redis/dialects/redlock/redlock_recipe.hpp"
#include "redis/dialects/token/token_recipe.hpp"

namespace holdfast::dialects {
namespace {

using ::testing::MatchesRegex;

const client_id some_client{{0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98,
                             0x76, 0x54, 0x32, 0x10}};

TEST(drawn_values, look_like_those_of_the_libraries) {
  const request_id owner{some_client, 7};
  EXPECT_THAT(drawn_value(token_form::hex, owner), MatchesRegex("[0-9a-f]{32}"));
  EXPECT_THAT(drawn_value(token_form::uuid, owner),
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));
  EXPECT_THAT(drawn_value(token_form::letters, owner), MatchesRegex("[0-9a-zA-Z]{16}"));
}

TEST(drawn_values, are_the_same_in_each_resend_and_unlike_all_others) {
  for (const auto form : {token_form::hex, token_form::uuid, token_form::letters}) {
    std::set<std::string> seen;
    for (std::uint64_t attempt = 1; attempt <= 1000; ++attempt) {
      const auto value = drawn_value(form, request_id{some_client, attempt});
      EXPECT_EQ(value, drawn_value(form, request_id{some_client, attempt}));
      seen.insert(value);
    }
    EXPECT_EQ(seen.size(), 1000U);
  }
}

TEST(drawn_values, are_those_of_redlocks_libraries) {
  const request_id owner{some_client, 7}, other{some_client, 8};
  const auto redsync = redlock_value(redlock_library::redsync, owner);
  EXPECT_THAT(redsync, MatchesRegex("[0-9a-zA-Z+/]{21}[AQgw]=="));
  EXPECT_NE(redsync, redlock_value(redlock_library::redsync, other));
  EXPECT_EQ(redlock_value(redlock_library::node_redlock, owner),
            drawn_value(token_form::hex, owner));
}

TEST(base64, has_two_letters_for_three_digits) {
  EXPECT_EQ(as_base64("000fff"), "AA//");
  EXPECT_EQ(as_base64("00108310518720928b30d38f"), "ABCDEFGHIJKLMNOP");
}

TEST(redisson, names_owners_as_uuid_and_thread) {
  EXPECT_EQ(redisson_owner(request_id{some_client, 300}),
            "01234567-89ab-cdef-fedc-ba9876543210:300");
}

TEST(redisson, tells_which_client_an_owner_is_of) {
  const redisson_recipe recipe;
  EXPECT_EQ(recipe.client_of("01234567-89ab-cdef-fedc-ba9876543210:300"), some_client.text());
  EXPECT_EQ(recipe.client_of("01234567-89ab-cdef-fedc-ba9876543210"), "");
  EXPECT_EQ(recipe.client_of("mode"), "");
}

TEST(redisson, puts_braces_around_names_without_any) {
  const redisson_recipe recipe;
  EXPECT_EQ(recipe.channel_of("orders"), "redisson_lock__channel:{orders}");
  EXPECT_EQ(recipe.channel_of("a{b}"), "redisson_lock__channel:a{b}");
  EXPECT_EQ(recipe.channel_of("a{b"), "redisson_lock__channel:a{b");
  EXPECT_EQ(redisson_recipe::token_key_of("orders"), "redisson_lock_token:{orders}");
  EXPECT_EQ(redisson_recipe::token_key_of("a{b}"), "redisson_lock_token:a{b}");
}

TEST(redisson, shows_owners_as_it_names_its_threads) {
  const redisson_recipe recipe;
  const std::string thread = "01234567-89ab-cdef-fedc-ba9876543210:300";
  EXPECT_EQ(recipe.shown(thread), thread);
  EXPECT_EQ(recipe.shown(thread + ":write"), thread);
  EXPECT_EQ(recipe.client_of(thread + ":write"), some_client.text());
}

TEST(redisson, has_one_read_write_lock_beside_the_plain_one) {
  const redisson_recipe recipe;
  ASSERT_TRUE(recipe.read_write());
  EXPECT_EQ(recipe.read_write(), recipe.read_write());
  EXPECT_EQ(recipe.read_write()->channel_of("orders"), "redisson_rwlock:{orders}");
  EXPECT_EQ(recipe.read_write()->channel_of("a{b}"), "redisson_rwlock:a{b}");
  EXPECT_EQ(recipe.read_write()->key_of("a{b}"), "a{b}");
  EXPECT_FALSE(redisson_recipe(redisson_lock::spin).read_write());
  EXPECT_FALSE(redisson_recipe(redisson_lock::fenced).read_write());
}

resp::value said(resp::type kind, std::int64_t number = 0, std::string text = {}) {
  return {.kind = kind, .number = number, .text = std::move(text), .items = {}};
}
resp::value integer(std::int64_t number) { return said(resp::type::integer, number); }
resp::value simple(const char* text) { return said(resp::type::simple, 0, text); }

TEST(foreign_recipe, understands_what_its_scripts_answer_and_nothing_else) {
  const redisson_recipe recipe;
  const lock_key key{"orders"};
  const claim wanted{.key = &key, .owner = {some_client, 1}, .lease = milliseconds{500}};
  const auto read = [&](const resp::value& v) { return recipe.read_acquire(wanted, v); };
  EXPECT_EQ(read(simple("OK")), acquire_verdict(granted{0, milliseconds{500}}));
  EXPECT_EQ(read(said(resp::type::null)), acquire_verdict(busy{}));
  EXPECT_EQ(read(integer(-80)), acquire_verdict(busy{milliseconds{80}}));
  // Such locks have no tokens.
  EXPECT_TRUE(std::holds_alternative<refused>(read(integer(80))));
  EXPECT_TRUE(std::holds_alternative<refused>(read(simple("NO"))));
}

resp::value list(std::vector<resp::value> items) {
  return {.kind = resp::type::array, .number = 0, .text = {}, .items = std::move(items)};
}
resp::value text(const char* words) { return said(resp::type::bulk, 0, words); }

TEST(foreign_recipe, reads_all_who_have_a_lock) {
  const redisson_recipe recipe;
  const auto read = [&](std::vector<resp::value> v) { return recipe.read_inspect(list(v)); };
  const auto one = list({text("a"), integer(2), integer(-1)});
  const auto other = list({text("b"), integer(1), integer(80), text("r")});
  const foreign_holder reader{.owner = "b", .remaining = milliseconds{80}, .mode = 'r'};
  EXPECT_EQ(read({}), foreign_verdict(foreign_holders{}));
  EXPECT_EQ(read({one, other}), foreign_verdict(foreign_holders{{"a", 2}, reader}));
  for (const auto& wrong : {integer(1), list({}), list({text("a"), integer(1)}),
                            list({text("a"), text("1"), integer(1)}),
                            list({text("a"), integer(1), integer(1), text("read")})}) {
    EXPECT_TRUE(std::holds_alternative<refused>(read({wrong}))) << resp::to_string(wrong);
  }
}

}  // namespace
}  // namespace holdfast::dialects
