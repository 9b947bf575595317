#include "base/lock_key.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>
#include <vector>

#include <holdfast/errc.hpp>

namespace holdfast {
namespace {

using namespace std::string_view_literals;

const std::vector<std::string_view> hostile_names = {
    "{"sv,         "}"sv,        "{}"sv,       "}{"sv,      "%"sv,      "%7B"sv,
    "{a}{b}"sv,    "a{"sv,       "\0"sv,       "\0\0"sv,    "\r\n"sv,   "a\r\nDEL b"sv,
    "\x7f"sv,      "\xff\xfe"sv, "\xc3\x28"sv, "*"sv,       "[a-z]?"sv, "hf:{a}"sv,
    "fence:{0}"sv, "a:w"sv,      " "sv,        "\x1b[2J"sv, "%%%"sv,    "%2"sv,
};

// All texts of 1 to `longest` characters of the alphabet.
std::vector<std::string> all_texts(std::string_view alphabet, std::size_t longest) {
  std::vector<std::string> texts{""};
  std::size_t begin = 0;
  for (std::size_t size = 1; size <= longest; ++size) {
    const std::size_t end = texts.size();
    for (std::size_t i = begin; i < end; ++i) {
      for (const char c : alphabet) texts.push_back(texts[i] + c);
    }
    begin = end;
  }
  texts.erase(texts.begin());
  return texts;
}

std::string random_name(std::mt19937_64& random) {
  std::string name(1 + random() % 512, '\0');
  for (char& c : name) c = static_cast<char>(random());
  return name;
}

void expect_one_slot(std::string_view name) {
  const lock_key key{name};
  EXPECT_EQ(key.name(), name);
  EXPECT_EQ(hash_slot(key.value_key()), key.slot()) << key.value_key();
  EXPECT_EQ(hash_slot(key.fence_key()), key.slot()) << key.fence_key();
  EXPECT_EQ(decode_name(encode_name(name)), name);
}

TEST(hash_slot, follows_the_cluster_specification) {
  EXPECT_EQ(hash_slot("123456789"), 0x31C3 % 16384);
  EXPECT_EQ(hash_slot(""), 0);
  EXPECT_EQ(hash_slot("foo"), 12182);
  EXPECT_EQ(hash_slot("{foo}bar"), 12182);
  EXPECT_EQ(hash_slot("a{foo}{bar}"), 12182);
  EXPECT_EQ(hash_slot("foo{}{bar}"), 8363) << "an empty tag is no tag";
  EXPECT_EQ(hash_slot("foo{{bar}}zap"), hash_slot("{bar"));
  EXPECT_EQ(hash_slot("foo{bar}{zap}"), 5061);
  EXPECT_NE(hash_slot("foo{bar"), hash_slot("bar")) << "a tag without end is no tag";
}

TEST(slot_tag, is_the_smallest_number_of_its_slot) {
  std::vector<bool> met(16384);
  std::size_t missing = met.size();
  for (unsigned number = 0; missing > 0; ++number) {
    const std::string text = std::to_string(number);
    const std::uint16_t slot = hash_slot(text);
    if (met[slot]) continue;
    met[slot] = true;
    --missing;
    ASSERT_EQ(slot_tag(slot), text);
  }
}

TEST(slot_tag, may_be_asked_by_many_threads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (std::uint16_t slot = 0; slot < 16384; slot += 61) {
        EXPECT_EQ(hash_slot(slot_tag(slot)), slot);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST(encode_name, escapes_what_redis_and_terminals_might_misread) {
  EXPECT_EQ(encode_name("orders:42"), "orders:42");
  EXPECT_EQ(encode_name("{a}%"), "%7Ba%7D%25");
  EXPECT_EQ(encode_name("\0\r\n\x1f\x7f"sv), "%00%0D%0A%1F%7F");
  EXPECT_EQ(encode_name("gr\xc3\xbc\xc3\x9f\xff"), "gr\xc3\xbc\xc3\x9f\xff");
}

TEST(decode_name, leaves_what_is_no_escape) {
  EXPECT_EQ(decode_name("%7Ba%7D"), "{a}");
  for (const std::string_view kept : {"%", "%7", "a%", "%zz", "%7b", "%41", "%C3", "100% sure"}) {
    EXPECT_EQ(decode_name(kept), kept);
  }
}

TEST(lock_key, has_the_documented_form) {
  const lock_key key{"orders:42"};
  EXPECT_EQ(key.value_key(), "hf:{orders:42}");
  EXPECT_EQ(key.fence_key(), "hf:fence:{" + slot_tag(hash_slot("orders:42")) + "}");
  EXPECT_EQ(lock_key{"{x}"}.value_key(), "hf:{%7Bx%7D}");
}

TEST(lock_key, has_all_keys_in_one_slot) {
  for (const std::string_view name : hostile_names) expect_one_slot(name);
  std::mt19937_64 random{42};
  for (int i = 0; i < 5000; ++i) expect_one_slot(random_name(random));
}

TEST(lock_key, is_never_shared_by_two_names) {
  const std::vector<std::string> names = all_texts("{}%7BD2\0a"sv, 5);
  std::set<std::string> keys;
  for (const std::string& name : names) {
    ASSERT_EQ(decode_name(encode_name(name)), name);
    ASSERT_TRUE(keys.insert(lock_key{name}.value_key()).second) << name;
  }
}

TEST(lock_key, is_never_the_fence_key_of_another_lock) {
  for (const std::string_view name : {"fence:{0}"sv, "0"sv, "fence:"sv, "hf:fence:{0}"sv}) {
    EXPECT_FALSE(lock_key{name}.value_key().starts_with("hf:fence:"));
  }
}

TEST(lock_key, accepts_1_to_512_bytes) {
  EXPECT_NO_THROW(lock_key{"x"});
  EXPECT_NO_THROW(lock_key{std::string(512, '\0')});
  for (const std::string& name : {std::string{}, std::string(513, 'x')}) {
    try {
      lock_key{name};
      ADD_FAILURE() << name.size();
    } catch (const failure& refused) {
      EXPECT_EQ(refused.reason(), errc::invalid_name);
    }
  }
}

}  // namespace
}  // namespace holdfast
