// A master under Redis Sentinel, all of them over TLS.
#include "faults/faulty_server.hpp"
#include "support/fake_server.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::faults {
namespace {

using support::certificate_authority;
using support::fake_server;
using support::sentinel_group;
using support::server_tls;

class SentinelOverTls : public fault_test {
 protected:
  sentinel_group start_group() {
    return sentinel_group{GetParam(),
                          server_tls{.own = authority_.issue(), .authority = authority_.file()}};
  }
  private_server start_sentinel_that_names(std::uint16_t port) {
    return support::start_sentinel_of(
        GetParam(), port, server_tls{.own = authority_.issue(), .authority = authority_.file()});
  }
  static std::string url_of(const private_server& sentinel) {
    return "rediss+sentinel://127.0.0.1:" + std::to_string(sentinel.tls_port()) + "/locks";
  }
  client_options knowing() const {
    auto options = impatient();
    options.connect_timeout = 5s;  // the sentinel of a busy machine is no silent one
    options.tls.ca_file = authority_.file();
    return options;
  }

  certificate_authority authority_;
};
HOLDFAST_ON_EACH_SERVER(SentinelOverTls);

TEST_P(SentinelOverTls, NamesTheMasterAndTheNext) {
  auto group = start_group();
  const client redis{group.url(), knowing()};
  EXPECT_EQ(redis.url(), group.url());
  auto held = redis.mutex("a").try_acquire({.timeout = support::generous});
  ASSERT_TRUE(held) << why_not(held);
  const auto last = held->token();
  ASSERT_TRUE(held->release());
  group.fail_over();
  const auto next = redis.mutex("a").try_acquire({.timeout = support::generous});
  ASSERT_TRUE(next) << why_not(next);
  EXPECT_GT(next->token(), last);
}

TEST_P(SentinelOverTls, MustBeTrusted) {
  auto group = start_group();
  const certificate_authority stranger;
  auto options = patient();
  options.tls.ca_file = stranger.file();
  expect_failure(client(group.url(), options).mutex("a").try_acquire(), errc::untrusted_server,
                 "no sentinel says");
}

TEST_P(SentinelOverTls, IsNotAskedInTheClear) {
  const fake_server plain;
  const client redis{"rediss+sentinel://127.0.0.1:" + std::to_string(plain.port()) + "/locks",
                     knowing()};
  EXPECT_FALSE(redis.mutex("a").try_acquire());
  EXPECT_TRUE(eventually([&] { return plain.connections() > 0; }));
  EXPECT_EQ(plain.received("HELLO"), 0U);
}

TEST_P(SentinelOverTls, BehindAPlainAddressIsToldAsSuch) {
  auto group = start_group();
  auto url = group.url();
  url.erase(url.find("rediss") + 5, 1);
  expect_failure(client(url, patient()).mutex("a").try_acquire({.timeout = 1h}), errc::not_redis,
                 "speaks TLS: write rediss+sentinel://");
}

TEST_P(SentinelOverTls, NamesNoMasterThatIsSpokenToInTheClear) {
  const fake_server plain;
  const auto sentinel = start_sentinel_that_names(plain.port());
  expect_failure(
      client(url_of(sentinel), knowing()).mutex("a").try_acquire(), errc::not_redis,
      std::to_string(plain.port()) + " as the sentinels say: the server does not speak TLS");
  EXPECT_EQ(plain.received("HELLO"), 0U);
}

TEST_P(SentinelOverTls, NamesNoMasterThatNeedNotBeTrusted) {
  certificate_authority stranger;
  const auto master =
      start({.tls = server_tls{.own = stranger.issue(), .authority = stranger.file()}});
  const auto sentinel = start_sentinel_that_names(master.tls_port());
  expect_failure(
      client(url_of(sentinel), knowing()).mutex("a").try_acquire(), errc::untrusted_server,
      "the master of \"locks\", which is 127.0.0.1:" + std::to_string(master.tls_port()));
}

}  // namespace
}  // namespace holdfast::faults
