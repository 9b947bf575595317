#include "redis/url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace holdfast::redis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

net::tcp_endpoint tcp(const server_url& url) { return std::get<net::tcp_endpoint>(url.where); }

TEST(Url, TakesAHostAndTheUsualPort) {
  const auto url = parse_url("redis://example").value();
  EXPECT_EQ(tcp(url).host, "example");
  EXPECT_EQ(tcp(url).port, 6379);
  EXPECT_EQ(url.database, 0);
  EXPECT_EQ(url.shown, "redis://example:6379");
}

TEST(Url, TakesEverythingAtOnceAndShowsNoLogin) {
  const auto url = parse_url("redis://us%3Aer:s%40cret@[::1]:7000/12").value();
  EXPECT_EQ(tcp(url).host, "::1");
  EXPECT_EQ(tcp(url).port, 7000);
  EXPECT_EQ(url.database, 12);
  EXPECT_EQ(url.login.username, "us:er");
  EXPECT_EQ(url.login.password, "s@cret");
  EXPECT_EQ(url.shown, "redis://[::1]:7000/12");
}

TEST(Url, TakesAPasswordWithoutUserAndWithAnUnescapedAt) {
  const auto url = parse_url("redis://:p@ss@host").value();
  EXPECT_EQ(url.login.username, "");
  EXPECT_EQ(url.login.password, "p@ss");
  EXPECT_EQ(tcp(url).host, "host");
}

TEST(Url, TakesValkeyAsAnotherWordForRedis) {
  EXPECT_EQ(tcp(parse_url("valkey://h:1").value()).port, 1);
}

TEST(Url, TakesSchemesInAnyCase) {
  EXPECT_EQ(tcp(parse_url("REDIS://Host").value()).host, "Host");
  EXPECT_EQ(tcp(parse_url("Valkey://h").value()).host, "h");
  EXPECT_EQ(std::get<net::unix_endpoint>(parse_url("Unix:///Run").value().where).path, "/Run");
  EXPECT_EQ(parse_url("EMBEDDED:/X").value().shown, "embedded:/X");
}

TEST(Url, TakesAUnixSocket) {
  const auto url = parse_url("unix:///run/a%20b.sock?db=3").value();
  EXPECT_EQ(std::get<net::unix_endpoint>(url.where).path, "/run/a b.sock");
  EXPECT_EQ(url.database, 3);
}

TEST(Url, TakesEmbeddedServers) {
  EXPECT_EQ(parse_url("embedded:").value().what, server_url::kind::embedded_private);
  const auto shared = parse_url("embedded:/var/tmp/x").value();
  EXPECT_EQ(shared.what, server_url::kind::embedded_shared);
  EXPECT_EQ(shared.directory, "/var/tmp/x");
}

struct bad_url {
  const char* text;
  errc code;
  const char* says;
};

class BadUrl : public ::testing::TestWithParam<bad_url> {};

TEST_P(BadUrl, IsRefusedWithAReason) {
  const auto parsed = parse_url(GetParam().text);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().reason(), GetParam().code);
  EXPECT_THAT(parsed.error().what(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadUrl,
    ::testing::Values(bad_url{"", errc::invalid_url, "empty"},
                      bad_url{"localhost", errc::invalid_url, "scheme"},
                      bad_url{"http://h", errc::invalid_url, "scheme"},
                      bad_url{"redis://", errc::invalid_url, "host name is missing"},
                      bad_url{"redis://:6379", errc::invalid_url, "host name is missing"},
                      bad_url{"redis://h:", errc::invalid_url, "port"},
                      bad_url{"redis://h:0", errc::invalid_url, "port"},
                      bad_url{"redis://h:65536", errc::invalid_url, "port"},
                      bad_url{"redis://h:12x", errc::invalid_url, "port"},
                      bad_url{"redis://h:-1", errc::invalid_url, "port"},
                      bad_url{"redis://h/x", errc::invalid_url, "database"},
                      bad_url{"redis://h/-1", errc::invalid_url, "database"},
                      bad_url{"redis://h/1/2", errc::invalid_url, "database"},
                      bad_url{"redis://[::1", errc::invalid_url, "']'"},
                      bad_url{"redis://[::1]x", errc::invalid_url, "':port'"},
                      bad_url{"redis://a b", errc::invalid_url, "space"},
                      bad_url{"redis://u:%4@h", errc::invalid_url, "'%'"},
                      bad_url{"redis://u:%00@h", errc::invalid_url, "'%'"},
                      bad_url{"unix://relative", errc::invalid_url, "'/'"},
                      bad_url{"unix:///s?x=1", errc::invalid_url, "?db=N"},
                      bad_url{"embedded:relative", errc::invalid_url, "'/'"},
                      bad_url{"REDIS", errc::invalid_url, "scheme"},
                      bad_url{"REDISS://h", errc::unsupported, "TLS"},
                      bad_url{"valkeys://h", errc::unsupported, "TLS"},
                      bad_url{"rediss://h", errc::unsupported, "TLS"}));

TEST(Url, NeverRepeatsAPasswordInItsComplaint) {
  for (const char* text : {"redis://u:hunter2@", "redis://u:hunter2@h:0", "redis://u:hunter2%@h",
                           "redis://u:hunter2@h/x", "nonsense://u:hunter2@h", "hunter2"}) {
    const auto parsed = parse_url(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().what(), Not(HasSubstr("hunter2")));
  }
}

TEST(Url, BearsAnyText) {
  std::mt19937 random(7);
  const std::string alphabet = "redis://unx:[]@%/?=db0123.\0\xff";
  for (int i = 0; i < 200'000; ++i) {
    std::string text = i % 2 == 0 ? "redis://" : "";
    for (auto left = random() % 20; left > 0; --left) text += alphabet[random() % alphabet.size()];
    const auto parsed = parse_url(text);
    if (parsed) {
      EXPECT_FALSE(parsed->shown.empty());
    }
  }
}

}  // namespace
}  // namespace holdfast::redis
