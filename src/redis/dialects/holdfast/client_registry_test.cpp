#include "redis/dialects/holdfast/client_registry.hpp"

#include <gtest/gtest.h>

#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/random_replies_for_tests.hpp"
#include "redis/resp/sample_replies_for_tests.hpp"

namespace holdfast::dialects {
namespace {

using resp::array;
using resp::bulk;

const client_id client{{0xff}};
const std::string id = "ff000000000000000000000000000000";

client_entry some_entry() {
  return {.host = "web1",
          .pid = 4711,
          .program = "shop",
          .version = "0.1.0",
          .since = server_time(microseconds(1795240014867674))};
}

TEST(client_registry, writes_all_fields_and_an_expiry_in_one_script) {
  std::string bytes;
  resp::writer out{bytes};
  write_client({key_space{}, client.text()}, some_entry(), milliseconds(90'000), out);
  EXPECT_TRUE(out.finished());
  EXPECT_EQ(bytes, "*15\r\n$7\r\nEVALSHA\r\n$40\r\n" +
                       std::string{scripts::holdfast_register_client.sha1} +
                       "\r\n$1\r\n1\r\n$42\r\nhf:client:" + id +
                       "\r\n$5\r\n90000\r\n$4\r\nhost\r\n$4\r\nweb1\r\n$3\r\npid\r\n$4\r\n4711\r\n"
                       "$7\r\nprogram\r\n$4\r\nshop\r\n$7\r\nversion\r\n$5\r\n0.1.0\r\n"
                       "$5\r\nsince\r\n$16\r\n1795240014867674\r\n");
}

TEST(client_registry, cuts_long_texts) {
  client_entry entry = some_entry();
  entry.program = std::string(100'000, 'x');
  std::string bytes;
  resp::writer out{bytes};
  write_client({key_space{}, client.text()}, entry, milliseconds(1), out);
  EXPECT_LT(bytes.size(), 600U);
}

TEST(client_registry, cuts_between_two_characters) {
  const std::string euro = "\xe2\x82\xac";
  const auto kept_of = [](const std::string& program) {
    const auto verdict =
        read_client(array({bulk(""), bulk(""), bulk(program), bulk(""), bulk("")}));
    return std::get<std::optional<client_entry>>(verdict)->program;
  };
  for (std::size_t before = 124; before <= 128; ++before) {
    const std::string ascii(before, 'x');
    EXPECT_EQ(
        kept_of(ascii + euro + "y"),
        before == 125 ? ascii + euro : ascii.substr(0, 128) + (before == 124 ? euro + "y" : ""))
        << before;
  }
  const std::string no_text(200, '\x82');
  EXPECT_EQ(kept_of(no_text), no_text.substr(0, 128));
}

TEST(client_registry, removes_and_asks_for_an_entry) {
  std::string bytes;
  resp::writer out{bytes};
  write_client_removal({key_space{}, client.text()}, out);
  EXPECT_EQ(bytes, "*2\r\n$3\r\nDEL\r\n$42\r\nhf:client:" + id + "\r\n");
  bytes.clear();
  write_client_query({key_space{}, id}, out);
  EXPECT_EQ(bytes, "*4\r\n$7\r\nEVALSHA\r\n$40\r\n" +
                       std::string{scripts::holdfast_read_client.sha1} +
                       "\r\n$1\r\n1\r\n$42\r\nhf:client:" + id + "\r\n");
}

TEST(client_registry, reads_an_entry) {
  const auto verdict = read_client(
      array({bulk("web1"), bulk("4711"), bulk("shop"), bulk("0.1.0"), bulk("1795240014867674")}));
  EXPECT_EQ(verdict, client_verdict(std::optional{some_entry()}));
}

TEST(client_registry, reads_no_entry) {
  EXPECT_EQ(read_client(array({})), client_verdict(std::optional<client_entry>{}));
}

TEST(client_registry, leaves_out_what_makes_no_sense) {
  const auto verdict =
      read_client(array({bulk(""), bulk("-1"), bulk("x"), bulk(""), bulk("soon")}));
  client_entry expected;
  expected.program = "x";
  EXPECT_EQ(verdict, client_verdict(std::optional{expected}));
}

TEST(client_registry, refuses_what_is_no_entry) {
  EXPECT_EQ(std::get<refused>(read_client(array({bulk("host")}))).code, errc::server_error);
  EXPECT_EQ(std::get<refused>(read_client(resp::error("NOPERM x"))).code, errc::permission_denied);
  EXPECT_EQ(read_client_written(resp::integer(1)), std::nullopt);
  EXPECT_EQ(read_client_written(resp::integer(0))->code, errc::server_error);
  EXPECT_EQ(read_client_written(resp::error("OOM no"))->code, errc::out_of_memory);
}

TEST(client_registry, makes_a_verdict_of_whatever_is_answered) {
  random_replies replies{7};
  for (int i = 0; i < 50'000; ++i) {
    const auto verdict = read_client(replies.next());
    if (const auto* why = std::get_if<refused>(&verdict)) {
      ASSERT_GT(why->detail.size(), 20U);
    }
  }
}

}  // namespace
}  // namespace holdfast::dialects
