#include "base/key_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/errc.hpp>

#include "base/lock_key.hpp"

namespace holdfast {
namespace {

using namespace std::string_view_literals;

TEST(key_space, begins_names_with_hf_and_of_a_tenant_with_its_name_too) {
  EXPECT_EQ(key_space{}.prefix(), "hf:");
  EXPECT_EQ(key_space{""}.prefix(), "hf:");
  EXPECT_FALSE(key_space{}.is_of_tenant());
  EXPECT_EQ(key_space{}.tenant(), "");
  const key_space blue{"blue"};
  EXPECT_EQ(blue.prefix(), "hf:@blue:");
  EXPECT_TRUE(blue.is_of_tenant());
  EXPECT_EQ(blue.tenant(), "blue");
  EXPECT_EQ(blue.named("waits"), "hf:@blue:waits");
}

// Nothing that ends the prefix, stands for more in a pattern, or for something else in a line of
// rights, a shell or a terminal.
TEST(key_space, takes_letters_digits_and_three_signs_for_a_tenant) {
  for (const auto good : {"a"sv, "A-Z_0.9"sv, "..."sv, "-x"sv}) {
    EXPECT_TRUE(key_space::may_be_tenant(good)) << good;
    EXPECT_EQ(key_space{good}.tenant(), good);
  }
  EXPECT_TRUE(key_space::may_be_tenant(std::string(64, 'x')));
  EXPECT_FALSE(key_space::may_be_tenant(std::string(65, 'x')));
  EXPECT_FALSE(key_space::may_be_tenant(""));
  std::size_t allowed = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string name{'a', static_cast<char>(byte), 'b'};
    if (key_space::may_be_tenant(name)) ++allowed;
  }
  EXPECT_EQ(allowed, 26U + 26 + 10 + 3);
}

TEST(key_space, says_what_is_wrong_with_a_tenant) {
  for (const auto bad : {"a:b"sv, "a{b"sv, "*"sv, "a b"sv, "\x1b[2J"sv, "j\xc3\xbcrgen"sv}) {
    try {
      const key_space none{bad};
      ADD_FAILURE() << bad;
    } catch (const failure& refused) {
      EXPECT_EQ(refused.reason(), errc::invalid_argument);
      EXPECT_THAT(refused.what(), ::testing::HasSubstr("1 to 64 letters"));
      EXPECT_THAT(refused.what(), ::testing::Not(::testing::HasSubstr("\x1b")));
    }
  }
}

// So no key of a tenant is one of another, nor one of nobody's, and all of a lock stay in one slot.
TEST(key_space, gives_the_same_lock_other_keys_in_the_same_slot) {
  const lock_key nobodys{"orders:{42}"};
  const lock_key blue{key_space{"blue"}, "orders:{42}"};
  EXPECT_EQ(blue.name(), "orders:{42}");
  EXPECT_EQ(blue.prefix(), "hf:@blue:");
  EXPECT_EQ(blue.value_key(), "hf:@blue:{orders:%7B42%7D}");
  EXPECT_EQ(blue.fence_key(), "hf:@blue:fence:{" + slot_tag(nobodys.slot()) + "}");
  EXPECT_EQ(blue.slot(), nobodys.slot());
  EXPECT_EQ(hash_slot(blue.value_key()), blue.slot());
  EXPECT_EQ(hash_slot(blue.fence_key()), blue.slot());
  EXPECT_EQ(nobodys.prefix(), "hf:");
  EXPECT_EQ(lock_key(key_space{}, "orders").prefix(), "hf:");
}

TEST(key_space, knows_the_names_of_its_own_locks) {
  const key_space nobodys, blue{"blue"}, blu{"blu"};
  for (const auto* const name : {"a", "a{b}", "%", "hf:@blue:{a}", "@blue:"}) {
    for (const auto* const space : {&nobodys, &blue, &blu}) {
      const auto key = lock_key{*space, name}.value_key();
      for (const auto* const other : {&nobodys, &blue, &blu}) {
        EXPECT_EQ(name_in(*other, key), other == space ? std::optional(name) : std::nullopt) << key;
      }
    }
  }
  for (const auto* const none : {"hf:@blue:{}", "hf:@blue:{a}:w", "hf:@blue:waits", "{a}", ""}) {
    EXPECT_EQ(name_in(blue, none), std::nullopt) << none;
  }
  EXPECT_EQ(name_in(blue, "hf:@blue:{" + std::string(513, 'x') + "}"), std::nullopt);
}

}  // namespace
}  // namespace holdfast
