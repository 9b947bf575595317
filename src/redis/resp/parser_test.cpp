#include "redis/resp/parser.hpp"

#include <gtest/gtest.h>

#include <random>

#include "redis/resp/sample_replies_for_tests.hpp"
#include "redis/resp/writer.hpp"

namespace holdfast::resp {

// Found by GoogleTest, for readable failures.
void PrintTo(const value& v, std::ostream* out) { *out << to_string(v); }

namespace {

using outcome = parse_result::outcome;

outcome outcome_of(std::string_view bytes) {
  value ignored;
  return parse(bytes, ignored).what;
}

// A value that has been used for something else.
value used_value() {
  return array({array({bulk("stale"), integer(9)}), bulk(std::string(100, 'x')), integer(3)});
}

TEST(parser, reads_every_kind_of_reply) {
  for (const auto& [bytes, meaning] : sample_replies()) {
    value got;
    const parse_result result = parse(bytes, got);
    ASSERT_EQ(result.what, outcome::complete) << bytes;
    EXPECT_EQ(result.consumed, bytes.size()) << bytes;
    EXPECT_EQ(got, meaning) << bytes;
  }
}

TEST(parser, wants_more_after_every_shorter_prefix) {
  for (const auto& [bytes, meaning] : sample_replies()) {
    value got = used_value();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const parse_result result = parse(std::string_view{bytes}.substr(0, size), got);
      ASSERT_EQ(result.what, outcome::need_more) << bytes << " cut at " << size;
      ASSERT_EQ(result.consumed, 0U);
    }
    ASSERT_EQ(parse(bytes, got).what, outcome::complete);
    EXPECT_EQ(got, meaning) << "one value, fed byte by byte: " << bytes;
  }
}

TEST(parser, leaves_what_follows_a_value) {
  value got;
  for (const auto& [bytes, meaning] : sample_replies()) {
    const parse_result result = parse(bytes + "\r\nnot Redis", got);
    ASSERT_EQ(result.what, outcome::complete) << bytes;
    EXPECT_EQ(result.consumed, bytes.size());
    EXPECT_EQ(got, meaning);
  }
}

TEST(parser, forgets_what_a_reused_value_held) {
  for (const auto& [bytes, meaning] : sample_replies()) {
    value got = used_value();
    ASSERT_EQ(parse(bytes, got).what, outcome::complete);
    EXPECT_EQ(got, meaning) << bytes;
  }
}

TEST(parser, keeps_the_buffers_of_a_reused_value) {
  const std::string long_text(100, 'x');
  const std::string reply = "*2\r\n$100\r\n" + long_text + "\r\n:1\r\n";
  value got;
  ASSERT_EQ(parse(reply, got).what, outcome::complete);
  const value* const items = got.items.data();
  const char* const text = got.items[0].text.data();
  ASSERT_EQ(parse(reply, got).what, outcome::complete);
  EXPECT_EQ(got.items.data(), items);
  EXPECT_EQ(got.items[0].text.data(), text);
  ASSERT_EQ(parse(":7\r\n", got).what, outcome::complete);
  ASSERT_EQ(parse(reply, got).what, outcome::complete);
  EXPECT_EQ(got.items.data(), items) << "a short reply in between keeps the array's own buffer";
}

TEST(parser, reads_back_what_the_writer_wrote) {
  std::mt19937_64 random{7};
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    writer out{bytes};
    value expected = array({});
    const std::size_t words = 1 + random() % 20;
    out.command(words);
    for (std::size_t i = 0; i < words; ++i) {
      std::string word(random() % 70, '\0');
      for (char& c : word) c = static_cast<char>(random());
      out.arg(word);
      expected.items.push_back(bulk(word));
    }
    value got;
    ASSERT_EQ(parse(bytes, got).consumed, bytes.size());
    ASSERT_EQ(got, expected);
  }
}

TEST(parser, refuses_what_no_server_sends) {
  const std::vector<std::string> refused = {
      // Numbers are canonical.
      ":\r\n", ":-\r\n", ":+5\r\n", ":-0\r\n", ":00\r\n", ":007\r\n", ":-01\r\n", ": 1\r\n",
      ":1 \r\n", ":1a\r\n", ":0x1\r\n", ":1.0\r\n", ":9223372036854775808\r\n",
      ":-9223372036854775809\r\n", ":99999999999999999999\r\n", ":18446744073709551616\r\n",
      // Lengths too.
      "$\r\n", "$+1\r\na\r\n", "$-2\r\n", "$-0\r\n", "$01\r\na\r\n", "$a\r\n", "*-2\r\n", "*+0\r\n",
      "*x\r\n", "%-1\r\n", "~-1\r\n", ">-1\r\n", "|-1\r\n", "!-1\r\n", "=-1\r\n",
      "$9223372036854775808\r\n", "*-9223372036854775808\r\n", "*99999999999999999999\r\n",
      // Lines end with CR and LF, and hold neither.
      ":1\n", ":1\rx", "+OK\n", "+O\rK\r\n", "+O\nK\r\n", "+OK\r\r\n", "$1\n", "$1\r\nab\r\n",
      "$1\r\na\n", "$1\r\na\rx", "_x\r\n", "_\n", "#t\n", "#tt\r\n",
      // Other kinds.
      "#x\r\n", "#1\r\n", "#\r\n", ",\r\n", ",x\r\n", ",1.5x\r\n", ", 1\r\n", ",1,5\r\n", "(\r\n",
      "(-\r\n", "(+1\r\n", "(1.5\r\n", "(1a\r\n", "=3\r\ntxt\r\n", "=5\r\ntext:\r\n",
      // Streamed types, and bytes that are not Redis at all.
      "$?\r\n", "*?\r\n", ";4\r\n", ".\r\n", "HTTP/1.1 400 Bad Request\r\n", "SSH-2.0-OpenSSH\r\n",
      "\x15\x03\x01", "\r\n", " :1\r\n", std::string(1, '\0'),
      // In the depth of an array.
      "*2\r\n:1\r\nx", "*1\r\n*1\r\n:-0\r\n", "|1\r\n:x\r\n", "|1\r\n+a\r\n+b\r\n:x"};
  for (const std::string& bytes : refused) {
    EXPECT_EQ(outcome_of(bytes), outcome::malformed) << bytes;
  }
}

TEST(parser, bounds_the_depth) {
  const auto nested = [](std::size_t depth, const std::string& header) {
    std::string bytes;
    for (std::size_t i = 0; i < depth; ++i) bytes += header;
    return bytes + ":1\r\n";
  };
  for (const char* header : {"*1\r\n", "~1\r\n", ">1\r\n", "%1\r\n_\r\n", "|1\r\n_\r\n"}) {
    EXPECT_EQ(outcome_of(nested(max_depth + 1, header)), outcome::malformed) << header;
    EXPECT_EQ(outcome_of(nested(100'000, header)), outcome::malformed) << header;
  }
  EXPECT_EQ(outcome_of(nested(max_depth, "*1\r\n")), outcome::complete);
}

TEST(parser, bounds_a_line) {
  const std::string longest(max_line, 'x');
  EXPECT_EQ(outcome_of("+" + longest), outcome::need_more);
  EXPECT_EQ(outcome_of("+" + longest + "\r\n"), outcome::complete);
  EXPECT_EQ(outcome_of("+" + longest + "xx"), outcome::malformed);
  EXPECT_EQ(outcome_of(":" + std::string(30, '1')), outcome::malformed);
}

std::string header(char kind, std::size_t length) { return kind + std::to_string(length) + "\r\n"; }

TEST(parser, refuses_what_is_announced_as_too_large) {
  for (const char kind : {'$', '!', '='}) {
    EXPECT_EQ(outcome_of(header(kind, max_value)), outcome::need_more);
    EXPECT_EQ(outcome_of(header(kind, max_value + 1)), outcome::too_large);
  }
  for (const char kind : {'*', '~', '>'}) {
    EXPECT_EQ(outcome_of(header(kind, max_items)), outcome::need_more);
    EXPECT_EQ(outcome_of(header(kind, max_items + 1)), outcome::too_large);
  }
  for (const char kind : {'%', '|'}) {
    EXPECT_EQ(outcome_of(header(kind, max_items / 2)), outcome::need_more);
    EXPECT_EQ(outcome_of(header(kind, max_items / 2 + 1)), outcome::too_large);
  }
  for (const char kind : {'$', '!', '=', '*', '~', '>', '%', '|'}) {
    EXPECT_EQ(outcome_of(header(kind, INT64_MAX)), outcome::too_large);
    EXPECT_EQ(outcome_of("*2\r\n:1\r\n" + header(kind, INT64_MAX)), outcome::too_large);
  }
}

TEST(parser, allocates_only_for_what_has_come) {
  for (const auto& announcement :
       {header('*', max_items), header('~', max_items), header('%', max_items / 2),
        header('>', max_items), header('$', max_value) + "abc", header('!', max_value) + "abc",
        "*500000\r\n:1\r\n" + header('$', max_value) + "abc", header('|', max_items / 2),
        header('=', max_value) + "txt:"}) {
    value got;
    ASSERT_EQ(parse(announcement, got).what, outcome::need_more) << announcement;
    EXPECT_LE(got.items.capacity(), 8U) << announcement;
    EXPECT_LE(got.text.capacity(), 64U) << announcement;
  }
}

outcome arrival_of(std::string_view bytes) { return arrival{}.look(bytes); }

TEST(arrival, is_complete_when_the_value_is) {
  for (const auto& [bytes, meaning] : sample_replies()) {
    arrival by_byte;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto part = std::string_view{bytes}.substr(0, size);
      ASSERT_EQ(arrival_of(part), outcome::need_more) << bytes << " cut at " << size;
      ASSERT_EQ(by_byte.look(part), outcome::need_more) << bytes << " cut at " << size;
      ASSERT_GE(by_byte.missing(), 1U);
      ASSERT_LE(by_byte.missing(), bytes.size() - size) << bytes << " cut at " << size;
    }
    EXPECT_EQ(by_byte.look(bytes), outcome::complete) << bytes;
    EXPECT_EQ(arrival_of(bytes + "\r\nnot Redis"), outcome::complete) << bytes;
  }
}

TEST(arrival, tells_how_much_of_a_string_is_missing) {
  arrival coming;
  EXPECT_EQ(coming.look("*2\r\n$1000\r\nab"), outcome::need_more);
  EXPECT_EQ(coming.missing(), 1000U);  // with the end of its line
}

TEST(arrival, counts_everything_that_was_announced) {
  const auto half = header('*', max_items / 2);
  EXPECT_EQ(arrival_of(half), outcome::need_more);
  EXPECT_EQ(arrival_of(half + half), outcome::need_more);
  EXPECT_EQ(arrival_of(half + half + half), outcome::too_large);
  EXPECT_EQ(arrival_of(half + header('$', max_value / 2 + 1)), outcome::too_large);
  EXPECT_EQ(arrival_of(header('|', max_items / 4) + half + half), outcome::too_large);
  EXPECT_EQ(arrival_of(half + ":1\r\n" + header('>', INT64_MAX)), outcome::too_large);
  EXPECT_EQ(arrival_of(half + ":1\r\n$-2\r\n"), outcome::malformed);
}

TEST(arrival, has_the_depth_of_the_parser) {
  std::string nested;
  for (std::size_t depth = 0; depth < max_depth; ++depth)
    nested += depth % 2 == 0 ? "*1\r\n" : "~1\r\n";
  EXPECT_EQ(arrival_of(nested + ":1\r\n"), outcome::complete);
  EXPECT_EQ(arrival_of(nested + "*1\r\n"), outcome::malformed);
  EXPECT_EQ(arrival_of(nested + "|1\r\n"), outcome::malformed);
}

// Not in time if it began anew with each byte.
TEST(arrival, looks_at_each_byte_once) {
  constexpr std::size_t count = 100'000;
  std::string bytes = header('*', count);
  for (std::size_t i = 0; i < count; ++i) bytes += ":1\r\n";
  arrival coming;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_EQ(coming.look(std::string_view{bytes}.substr(0, size)), outcome::need_more);
  }
  EXPECT_EQ(coming.look(bytes), outcome::complete);
}

TEST(arrival, ends_attributes_without_end) {
  for (const std::string again : {"|0\r\n", "|1\r\n:1\r\n:2\r\n", "|1\r\n+a\r\n$3\r\nabc\r\n"}) {
    std::string bytes;
    while (bytes.size() <= max_value) bytes += again;
    EXPECT_EQ(arrival_of(bytes), outcome::too_large) << again;
    EXPECT_EQ(arrival_of(std::string_view{bytes}.substr(0, max_value / 16)), outcome::need_more);
  }
}

TEST(parser, reads_a_large_reply_in_pieces) {
  constexpr std::size_t count = 5000;
  std::string bytes = "*" + std::to_string(count) + "\r\n";
  for (std::size_t i = 0; i < count; ++i) bytes += "$11\r\nhf:{orders}\r\n";
  value got;
  for (std::size_t size = 0; size < bytes.size(); size += 16384) {
    ASSERT_EQ(parse(std::string_view{bytes}.substr(0, size), got).what, outcome::need_more);
  }
  ASSERT_EQ(parse(bytes, got).consumed, bytes.size());
  ASSERT_EQ(got.items.size(), count);
  EXPECT_EQ(got.items.back(), bulk("hf:{orders}"));
}

// One of the edits that a broken peer, or a bug of ours, might make.
void mutate(std::string& bytes, std::mt19937_64& random) {
  constexpr std::string_view alphabet = "\r\n0123456789-+:$*%~>|#_,(!=?tfx";
  const std::size_t at = bytes.empty() ? 0 : random() % bytes.size();
  const char other =
      random() % 4 == 0 ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
  switch (random() % 5) {
    case 0:
      bytes.insert(at, 1, other);
      break;
    case 1:
      bytes.erase(at, 1 + random() % 3);
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      bytes += bytes.substr(at);
      break;
    default:
      if (!bytes.empty()) bytes[at] = other;
  }
}

TEST(parser, survives_mutated_replies) {
  const std::vector<sample> samples = sample_replies();
  std::mt19937_64 random{20240917};
  value got;
  std::size_t complete = 0;
  for (int round = 0; round < 100'000; ++round) {
    std::string bytes = samples[random() % samples.size()].bytes;
    for (std::size_t edits = 1 + random() % 4; edits > 0; --edits) mutate(bytes, random);
    const parse_result result = parse(bytes, got);
    ASSERT_LE(result.consumed, bytes.size());
    const auto coming = arrival_of(bytes);
    const bool fits = coming != outcome::complete && coming != outcome::need_more;
    ASSERT_TRUE(fits || result.what == outcome::malformed ||
                (coming == outcome::complete) == (result.what == outcome::complete))
        << bytes;
    if (result.what != outcome::complete) continue;
    ++complete;
    ASSERT_GT(result.consumed, 0U);
    value again;
    const std::string_view taken = std::string_view{bytes}.substr(0, result.consumed);
    ASSERT_EQ(parse(taken, again).consumed, taken.size()) << bytes;
    ASSERT_EQ(again, got) << bytes;
    ASSERT_EQ(parse(taken.substr(0, taken.size() - 1), again).what, outcome::need_more) << bytes;
  }
  EXPECT_GT(complete, 10'000U) << "the mutations must leave enough that is still a reply";
}

}  // namespace
}  // namespace holdfast::resp
