#include "redis/resp/writer.hpp"

#include <gtest/gtest.h>

#include "redis/resp/loaded_scripts.hpp"

namespace holdfast::resp {
namespace {

constexpr script ping{"test/ping", "return 'PONG'", "0123456789abcdef0123456789abcdef01234567"};

TEST(writer, writes_a_command) {
  std::string out = "before";
  writer w{out};
  EXPECT_TRUE(w.finished());
  w.command(4);
  EXPECT_FALSE(w.finished());
  w.arg("SET");
  w.arg("hf:{a}");
  w.arg("");
  w.arg(std::int64_t{-42});
  EXPECT_TRUE(w.finished());
  EXPECT_EQ(out, "before*4\r\n$3\r\nSET\r\n$6\r\nhf:{a}\r\n$0\r\n\r\n$3\r\n-42\r\n");
}

TEST(writer, is_safe_for_every_byte) {
  using namespace std::string_view_literals;
  std::string out;
  writer w{out};
  w.command(1);
  w.arg("a\r\n\0b\xff"sv);
  EXPECT_EQ(out, "*1\r\n$6\r\na\r\n\0b\xff\r\n"sv);
}

TEST(writer, writes_the_extremes) {
  std::string out;
  writer w{out};
  w.command(2);
  w.arg(INT64_MIN);
  w.arg(std::string(1000, 'x'));
  EXPECT_EQ(out,
            "*2\r\n$20\r\n-9223372036854775808\r\n$1000\r\n" + std::string(1000, 'x') + "\r\n");
}

TEST(writer, calls_a_script_by_its_sha1) {
  std::string out;
  writer w{out};
  w.call(ping, 1, 1);
  w.arg("key");
  w.arg(std::int64_t{5});
  EXPECT_TRUE(w.finished());
  EXPECT_EQ(out,
            "*5\r\n$7\r\nEVALSHA\r\n$40\r\n0123456789abcdef0123456789abcdef01234567\r\n$1\r\n1\r\n"
            "$3\r\nkey\r\n$1\r\n5\r\n");
}

TEST(writer, calls_a_script_by_its_text) {
  std::string out;
  writer w{out, writer::scripts::by_text};
  w.call(ping, 0, 0);
  EXPECT_TRUE(w.finished());
  EXPECT_EQ(out, "*3\r\n$4\r\nEVAL\r\n$13\r\nreturn 'PONG'\r\n$1\r\n0\r\n");
}

TEST(writer, sends_each_text_once_to_a_server_that_lacked_a_script) {
  const script loaded{"test/loaded", "return 1", "fedcba9876543210fedcba9876543210fedcba98"};
  const script other{"test/other", "return 2", "89abcdef0123456789abcdef0123456789abcdef"};
  const script* const at_log_in[] = {&loaded};
  loaded_scripts known;
  known.start(at_log_in, false);
  const auto sent = [&](const script& s, writer::scripts how = writer::scripts::by_sha1) {
    std::string out;
    writer{out, how, &known}.call(s, 0, 0);
    return std::string{out.find("EVALSHA") == out.npos ? "text" : "sha1"};
  };
  EXPECT_EQ(sent(ping), "sha1");
  EXPECT_EQ(sent(ping, writer::scripts::by_text), "text") << "the server lacks it";
  EXPECT_EQ(sent(ping), "sha1");
  EXPECT_EQ(sent(other), "text");
  EXPECT_EQ(sent(other), "sha1");
  EXPECT_EQ(sent(loaded), "sha1");
  EXPECT_EQ(sent(loaded, writer::scripts::by_text), "text") << "it has forgotten all";
  EXPECT_EQ(sent(other), "text");
  known.start(at_log_in, false);
  EXPECT_EQ(sent(ping), "sha1");
}

TEST(writer, sends_the_nodes_of_a_cluster_the_form_for_them) {
  const script there{"test/two", "return 2", "89abcdef0123456789abcdef0123456789abcdef"};
  const script here{"test/two", "return 1", "fedcba9876543210fedcba9876543210fedcba98", &there};
  const script* const at_log_in[] = {&here};
  for (const bool in_cluster : {false, true}) {
    loaded_scripts known;
    known.start(at_log_in, in_cluster);
    std::string out;
    writer{out, writer::scripts::by_text, &known}.call(ping, 0, 0);  // the server lacks one
    out.clear();
    writer{out, writer::scripts::by_sha1, &known}.call(here, 0, 0);
    EXPECT_NE(out.find(in_cluster ? there.sha1 : here.sha1), out.npos) << out;
  }
}

#ifndef NDEBUG
TEST(writer_death, of_a_wrong_number_of_arguments) {
  std::string out;
  EXPECT_DEATH(
      {
        writer w{out};
        w.arg("unannounced");
      },
      "more arguments than announced");
  EXPECT_DEATH(
      {
        writer w{out};
        w.command(2);
        w.arg("one");
        w.command(1);
      },
      "lacks arguments");
}
#endif

}  // namespace
}  // namespace holdfast::resp
