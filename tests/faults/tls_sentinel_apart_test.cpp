// Sentinels whose TLS is not that of their servers: only they have it, only the servers do, or each
// with another authority, name and certificate of ours.
#include "faults/faulty_server.hpp"
#include "support/fake_server.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::faults {
namespace {

using support::certificate_authority;
using support::fake_server;
using support::sentinel_group;
using support::server_tls;
using ::testing::HasSubstr;
using ::testing::Not;

class SentinelApart : public fault_test {
 protected:
  private_server start_tls_server() {
    return start({.tls = server_tls{.own = of_servers_.issue(), .authority = of_servers_.file()}});
  }
  // It names the server, whatever it thinks of it itself.
  static private_server sentinel_of(std::uint16_t port, const std::optional<server_tls>& tls) {
    return support::start_sentinel_of(GetParam(), port, tls);
  }
  server_tls of_sentinels(const support::certificate_order& order = {}) {
    return {.own = of_sentinels_.issue(order), .authority = of_sentinels_.file()};
  }
  server_tls demanding_a_certificate() {
    auto tls = of_sentinels();
    tls.demands_client_certificate = true;
    return tls;
  }
  static std::string url_of(const private_server& sentinel, const std::string& scheme) {
    return scheme + "+sentinel://127.0.0.1:" + std::to_string(sentinel.tls_port()) + "/locks";
  }

  // A request that a failover left without an answer is sent again after the response timeout: that
  // must end well before the acquisition does.
  static client_options following() {
    auto options = patient();
    options.response_timeout = client_options{}.response_timeout;
    return options;
  }
  client_options knowing_sentinels() const {
    auto options = following();
    options.sentinel_tls = {.ca_file = of_sentinels_.file()};
    return options;
  }
  client_options knowing_both() const {
    auto options = knowing_sentinels();
    options.tls.ca_file = of_servers_.file();
    return options;
  }

  certificate_authority of_servers_{"Authority of the servers"};
  certificate_authority of_sentinels_{"Authority of the sentinels"};
};
HOLDFAST_ON_EACH_SERVER(SentinelApart);

result<lease> acquire(const client& redis) {
  return redis.mutex("a").try_acquire({.timeout = support::generous});
}

void expect_to_follow_a_failover(const client& redis, sentinel_group& group) {
  auto held = acquire(redis);
  ASSERT_TRUE(held) << why_not(held);
  const auto last = held->token();
  ASSERT_TRUE(held->release());
  group.fail_over();
  const auto next = acquire(redis);
  ASSERT_TRUE(next) << why_not(next);
  EXPECT_GT(next->token(), last);
}

TEST_P(SentinelApart, MayHaveTlsOverPlainServers) {
  sentinel_group group{GetParam(), {}, 500ms, of_sentinels()};
  expect_to_follow_a_failover(client(group.url(), knowing_sentinels()), group);
  EXPECT_THAT(why_not(client(group.url(), {}).mutex("a").try_acquire()),
              HasSubstr("for the sentinels alone set sentinel_tls (--sentinel-tls-ca)"));
}

TEST_P(SentinelApart, MayBePlainBeforeServersWithTls) {
  sentinel_group group{GetParam(),
                       server_tls{.own = of_servers_.issue(), .authority = of_servers_.file()}};
  auto options = following();
  options.tls.ca_file = of_servers_.file();
  options.insecure_plain_sentinels = true;
  expect_to_follow_a_failover(client(group.url_of_plain_sentinels(), options), group);
  options.connect_timeout = client_options{}.connect_timeout;  // it tries for so long
  EXPECT_THAT(why_not(client(group.url(), options).mutex("a").try_acquire()),
              HasSubstr("leave insecure_plain_sentinels out"));
  options.insecure_plain_sentinels = false;
  EXPECT_THAT(why_not(client(group.url_of_plain_sentinels(), options).mutex("a").try_acquire()),
              HasSubstr("for the sentinels alone set insecure_plain_sentinels"));
}

TEST_P(SentinelApart, PlainOnesNameNoServerThatNeedNotProveItself) {
  const auto master = start_tls_server();
  const auto sentinel = sentinel_of(master.tls_port(), {});
  auto options = patient();
  options.insecure_plain_sentinels = true;
  options.tls.ca_file = of_sentinels_.file();
  const auto url = "rediss+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + "/locks";
  expect_failure(client(url, options).mutex("a").try_acquire(), errc::untrusted_server,
                 "the master of \"locks\"");
}

TEST_P(SentinelApart, MayHaveAnAuthorityOfTheirOwn) {
  const auto master = start_tls_server();
  const auto sentinel = sentinel_of(master.tls_port(), of_sentinels());
  const auto url = url_of(sentinel, "rediss");
  const auto held = acquire(client{url, knowing_both()});
  EXPECT_TRUE(held) << why_not(held);
}

TEST_P(SentinelApart, WhatIsNotTrustedIsNamed) {
  const auto master = start_tls_server();
  const auto sentinel = sentinel_of(master.tls_port(), of_sentinels());
  const auto url = url_of(sentinel, "rediss");
  auto options = knowing_both();
  options.sentinel_tls->ca_file = of_servers_.file();
  const auto stranger = client(url, options).mutex("a").try_acquire();
  expect_failure(stranger, errc::untrusted_server, "no sentinel says");
  EXPECT_THAT(why_not(stranger), HasSubstr("as sentinel_tls.ca_file (--sentinel-tls-ca)"));
  // One authority of both is what is mostly meant: either may be the way out.
  options.sentinel_tls.reset();
  expect_failure(client(url, options).mutex("a").try_acquire(), errc::untrusted_server,
                 "as tls.ca_file (--tls-ca), or for the sentinels alone sentinel_tls.ca_file");
  options = knowing_both();
  options.tls.ca_file = of_sentinels_.file();
  const auto master_is = client(url, options).mutex("a").try_acquire();
  expect_failure(master_is, errc::untrusted_server, "the master of \"locks\"");
  EXPECT_THAT(why_not(master_is), HasSubstr("as tls.ca_file (--tls-ca)"));
  EXPECT_THAT(why_not(master_is), Not(HasSubstr("sentinel_tls")));
}

TEST_P(SentinelApart, MayHaveANameOfTheirOwn) {
  const auto master = start_tls_server();
  const auto sentinel =
      sentinel_of(master.tls_port(), of_sentinels({.hosts = {"sentinels.example"}}));
  const auto url = url_of(sentinel, "rediss");
  auto options = knowing_both();
  expect_failure(client(url, options).mutex("a").try_acquire(), errc::untrusted_server,
                 "sentinel_tls.server_name (--sentinel-tls-server-name)");
  options.sentinel_tls->server_name = "sentinels.example";
  const auto held = acquire(client{url, options});
  EXPECT_TRUE(held) << why_not(held);
}

TEST_P(SentinelApart, MayDemandACertificateOfTheirOwn) {
  const auto master = start({.tcp = true});
  const auto sentinel = sentinel_of(master.port(), demanding_a_certificate());
  const auto url = url_of(sentinel, "redis");
  auto options = knowing_sentinels();
  expect_failure(client(url, options).mutex("a").try_acquire(), errc::authentication,
                 "sentinel_tls.certificate_file (--sentinel-tls-cert)");
  const auto mine = of_sentinels_.issue();
  options.sentinel_tls->certificate_file = mine.certificate;
  options.sentinel_tls->key_file = mine.key;
  const auto held = acquire(client{url, options});
  EXPECT_TRUE(held) << why_not(held);
}

TEST_P(SentinelApart, CertificatesAreReadAgainAtEachConnection) {
  const auto master = start({.tcp = true});
  const auto sentinel = sentinel_of(master.port(), demanding_a_certificate());
  auto options = knowing_sentinels();
  const auto mine = of_servers_.issue();
  options.sentinel_tls->certificate_file = mine.certificate;
  options.sentinel_tls->key_file = mine.key;
  const client redis{url_of(sentinel, "redis"), options};
  expect_failure(redis.mutex("a").try_acquire(), errc::authentication, "refuses our certificate");
  of_sentinels_.issue({}, mine);
  EXPECT_TRUE(eventually([&] { return redis.mutex("a").try_acquire().has_value(); }));
}

TEST_P(SentinelApart, WithTlsIsNotAskedInTheClear) {
  const fake_server plain;
  auto options = impatient();
  options.sentinel_tls = {.ca_file = of_sentinels_.file()};
  const client redis{"redis+sentinel://127.0.0.1:" + std::to_string(plain.port()) + "/locks",
                     options};
  const auto got = redis.mutex("a").try_acquire();
  EXPECT_THAT(why_not(got), HasSubstr("leave sentinel_tls (--sentinel-tls-...) out"));
  EXPECT_TRUE(eventually([&] { return plain.connections() > 0; }));
  EXPECT_EQ(plain.received("HELLO"), 0U);
}

void expect_refused(const std::string& url, const client_options& options,
                    const std::string& explanation) {
  try {
    const client redis{url, options};
    ADD_FAILURE() << "accepted: " << url;
  } catch (const failure& refused) {
    EXPECT_EQ(refused.reason(), errc::invalid_argument) << refused.what();
    EXPECT_THAT(refused.what(), HasSubstr(explanation));
  }
}

TEST(SentinelApartOptions, AreRefusedWithoutSentinels) {
  client_options own, plain;
  own.sentinel_tls.emplace();
  plain.insecure_plain_sentinels = true;
  for (const char* url : {"redis://h", "rediss://h", "rediss+cluster://h", "unix:///s"}) {
    expect_refused(url, own, "the address names no sentinels");
    expect_refused(url, plain, "for rediss+sentinel:// alone");
  }
  expect_refused("redis+sentinel://h/s", plain, "for rediss+sentinel:// alone");
}

TEST(SentinelApartOptions, MustNotContradictThemselves) {
  client_options both;
  both.sentinel_tls.emplace();
  both.insecure_plain_sentinels = true;
  expect_refused("rediss+sentinel://h/s", both, "contradict each other");
}

TEST(SentinelApartOptions, MustNameFilesThatCanBeUsed) {
  client_options options;
  options.sentinel_tls = {.ca_file = "/not/there"};
  expect_refused("redis+sentinel://h/s", options,
                 "sentinel_tls.ca_file '/not/there' cannot be read: No such file");
  options.sentinel_tls = {.key_file = "/not/there"};
  expect_refused("rediss+sentinel://h/s", options, "sentinel_tls.key_file needs certificate_file");
}

}  // namespace
}  // namespace holdfast::faults
