#include "redis/connection/url.hpp"

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

TEST(Url, TakesSentinelsAndTheServiceTheyWatch) {
  const auto url = parse_url("redis+sentinel://u:p%40ss@one,two:7000,[::1]/my%20locks/3").value();
  ASSERT_TRUE(url.sentinels);
  EXPECT_EQ(url.sentinels->service, "my locks");
  ASSERT_EQ(url.sentinels->members.size(), 3U);
  EXPECT_EQ(net::to_string(url.sentinels->members[0]), "one:26379");
  EXPECT_EQ(net::to_string(url.sentinels->members[1]), "two:7000");
  EXPECT_EQ(net::to_string(url.sentinels->members[2]), "[::1]:26379");
  EXPECT_EQ(url.login.username, "u");
  EXPECT_EQ(url.login.password, "p@ss");
  EXPECT_EQ(url.sentinels->login.password, "");
  EXPECT_EQ(url.database, 3);
  EXPECT_EQ(url.shown, "redis+sentinel://one:26379,two:7000,[::1]:26379/my locks/3");
}

TEST(Url, TakesOneSentinelOfValkeyWithoutDatabase) {
  EXPECT_EQ(parse_url("redis+sentinel://h/a%3Fb").value().sentinels->service, "a?b");
  const auto url = parse_url("Valkey+Sentinel://h/s/").value();
  EXPECT_EQ(url.sentinels->members.size(), 1U);
  EXPECT_EQ(url.shown, "redis+sentinel://h:26379/s");
  EXPECT_FALSE(url.tls);
  const auto secret = parse_url("rediss+sentinel://h/s").value();
  EXPECT_TRUE(secret.tls && secret.sentinels);
  EXPECT_EQ(secret.shown, "rediss+sentinel://h:26379/s");
  EXPECT_FALSE(parse_url("redis://h").value().sentinels);
}

TEST(Url, TakesALoginBeforeAUnixSocket) {
  const auto url = parse_url("unix://us%40er:s%40:cret@/run/a@b.sock?db=3").value();
  EXPECT_EQ(std::get<net::unix_endpoint>(url.where).path, "/run/a@b.sock");
  EXPECT_EQ(url.login.username, "us@er");
  EXPECT_EQ(url.login.password, "s@:cret");
  EXPECT_EQ(url.shown, "unix:///run/a@b.sock?db=3");
  EXPECT_EQ(parse_url("unix:///run/x:y@/z").value().shown, "unix:///run/x:y@/z");
}

TEST(Url, TakesTheNodesOfACluster) {
  const auto url = parse_url("redis+cluster://me:secret@a,b:7001,[::1]:7002/").value();
  ASSERT_EQ(url.cluster_nodes.size(), 3U);
  EXPECT_EQ(url.cluster_nodes[0].host, "a");
  EXPECT_EQ(url.cluster_nodes[0].port, 6379);
  EXPECT_EQ(url.cluster_nodes[1].port, 7001);
  EXPECT_EQ(url.cluster_nodes[2].host, "::1");
  EXPECT_EQ(url.login.password, "secret");
  EXPECT_EQ(url.shown, "redis+cluster://a:6379,b:7001,[::1]:7002");
  EXPECT_EQ(parse_url("Valkey+Cluster://a").value().cluster_nodes.size(), 1U);
  EXPECT_FALSE(url.tls);
}

TEST(Url, TakesAClusterOverTls) {
  for (const auto* text : {"rediss+cluster://a,b", "ValkeyS+Cluster://a,b"}) {
    const auto url = parse_url(text).value();
    EXPECT_TRUE(url.tls);
    EXPECT_EQ(url.cluster_nodes.size(), 2U);
    EXPECT_EQ(url.shown, "rediss+cluster://a:6379,b:6379");
  }
}

TEST(Url, TakesNoDatabaseOfACluster) {
  for (const auto* text : {"redis+cluster://a/1", "redis+cluster://a,b/0", "redis+cluster://",
                           "redis+cluster://a,", "redis+cluster://,a", "redis+cluster://a,b:x"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().reason(), errc::invalid_url);
  }
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
                      bad_url{"redis://h?db=1", errc::invalid_url, "the parameter 'db'"},
                      bad_url{"redis://h:1?protocol=4", errc::invalid_url, "must be 2 or 3"},
                      bad_url{"redis://h?protocol=2&", errc::invalid_url, "'?'"},
                      bad_url{"redis://h:1/0?ssl_cert_reqs=none", errc::invalid_url,
                              "'ssl_cert_reqs', which is not known: there is ?protocol=2"},
                      bad_url{"redis://h:1/0#x?protocol=2", errc::invalid_url, "'#'"},
                      bad_url{"unix:///s?db=1&x", errc::invalid_url, "?db=N"},
                      bad_url{"redis://[fe80::1%25e%20h]", errc::invalid_url, "space"},
                      bad_url{"redis://h#1", errc::invalid_url, "'#'"},
                      bad_url{"rediss+cluster://h,i?x", errc::invalid_url, "'?'"},
                      bad_url{"redis+sentinel://h?x/s", errc::invalid_url, "'?'"},
                      bad_url{"redis+sentinel://h/s?x", errc::invalid_url, "'?'"},
                      bad_url{"redis+sentinel://h/s#x/1", errc::invalid_url, "'#'"},
                      bad_url{"redis://u:%4@h", errc::invalid_url, "'%'"},
                      bad_url{"redis://u:%00@h", errc::invalid_url, "'%'"},
                      bad_url{"redis+sentinel://h", errc::invalid_url, "service"},
                      bad_url{"redis+sentinel://h/", errc::invalid_url, "service"},
                      bad_url{"redis+sentinel://h//1", errc::invalid_url, "service"},
                      bad_url{"redis+sentinel:///s", errc::invalid_url, "host name is missing"},
                      bad_url{"redis+sentinel://h,/s", errc::invalid_url, "host name is missing"},
                      bad_url{"redis+sentinel://h,i:x/s", errc::invalid_url, "port"},
                      bad_url{"redis+sentinel://h/s/x", errc::invalid_url, "database"},
                      bad_url{"redis+sentinel://h/%4", errc::invalid_url, "'%'"},
                      bad_url{"unix://relative", errc::invalid_url, "'/'"},
                      bad_url{"unix:///s?x=1", errc::invalid_url, "?db=N"},
                      bad_url{"embedded:relative", errc::invalid_url, "'/'"},
                      bad_url{"REDIS", errc::invalid_url, "scheme"},
                      bad_url{"rediss://", errc::invalid_url, "host name is missing"}));

TEST(Url, MayAskForTheOldProtocol) {
  for (const std::string text :
       {"redis://h:1/2?protocol=2", "rediss://h:1?protocol=2", "redis+sentinel://h:1/s?protocol=2",
        "redis+cluster://h:1,i:2?protocol=2", "unix:///s?db=3&protocol=2",
        "unix:///s?protocol=2"}) {
    const auto url = parse_url(text).value();
    EXPECT_TRUE(url.login.old_protocol) << text;
    EXPECT_EQ(url.shown, text);
  }
  for (const char* text : {"redis://h", "redis://u:p%3Fprotocol=2@h", "redis://u:p?protocol=2@h",
                           "redis://h?protocol=3", "unix:///s"}) {
    EXPECT_FALSE(parse_url(text).value().login.old_protocol) << text;
  }
}

TEST(Url, HasAnAddressWithItsZoneAsItIsWrittenInUrls) {
  for (const char* text : {"redis://[fe80::1%25eth0]:7000", "redis://[fe80::1%eth0]:7000"}) {
    const auto url = parse_url(text).value();
    EXPECT_EQ(tcp(url).host, "fe80::1%eth0") << text;
    EXPECT_EQ(tcp(url).port, 7000);
  }
  EXPECT_EQ(tcp(parse_url("redis://[fe80::1%25]").value()).host, "fe80::1%25");
}

TEST(Url, MayNameAHostWithLettersOfEveryLanguage) {
  EXPECT_EQ(tcp(parse_url("redis://r\xc3\xa9"
                          "dis.example")
                    .value())
                .host,
            "r\xc3\xa9"
            "dis.example");
}

TEST(Url, AsksForTlsOnlyWhereItSaysSo) {
  for (const char* text :
       {"rediss://u:p@h:7000/2", "REDISS://u:p@h:7000/2", "valkeys://u:p@h:7000/2"}) {
    const auto url = parse_url(text).value();
    EXPECT_TRUE(url.tls) << text;
    EXPECT_EQ(url.shown, "rediss://h:7000/2");
    EXPECT_EQ(tcp(url).host, "h");
    EXPECT_EQ(url.login.password, "p");
  }
  for (const char* text : {"redis://rediss", "valkey://h", "unix:///s", "embedded:"}) {
    EXPECT_FALSE(parse_url(text).value().tls) << text;
  }
}

TEST(Url, NeverRepeatsAPasswordInItsComplaint) {
  for (const char* text :
       {"redis://u:hunter2@", "redis://u:hunter2@h:0", "redis://u:hunter2%@h",
        "redis://u:hunter2@h/x", "redis+sentinel://u:hunter2@h,i",
        "redis+sentinel://u:hunter2@h:x/s", "nonsense://u:hunter2@h", "hunter2",
        "redis://h?password=hunter2", "redis://h:1?password=hunter2", "redis://h/1?x=hunter2",
        "redis://[::1]?password=hunter2", "redis+cluster://h?password=hunter2",
        "redis+sentinel://h/s?password=hunter2", "redis://h#hunter2"}) {
    const auto parsed = parse_url(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().what(), Not(HasSubstr("hunter2")));
  }
}

TEST(Url, BearsAnyText) {
  std::mt19937 random(7);
  const std::string alphabet = "redis://unx:,[]@%/?=db0123.\0\xff";
  for (int i = 0; i < 200'000; ++i) {
    std::string text = i % 3 == 0 ? "redis://" : i % 3 == 1 ? "redis+sentinel://" : "";
    for (auto left = random() % 20; left > 0; --left) text += alphabet[random() % alphabet.size()];
    const auto parsed = parse_url(text);
    if (parsed) {
      EXPECT_FALSE(parsed->shown.empty());
    }
  }
}

}  // namespace
}  // namespace holdfast::redis
