// How sentinels are spoken to apart from their servers: on the command line, in the environment.
#include "cli/program.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::cli_tests {
namespace {

words with(words all, const words& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

class CommandLineOfSentinels : public CommandLine {
 protected:
  static private_server sentinel_of(std::uint16_t port,
                                    const std::optional<support::server_tls>& tls) {
    return support::start_sentinel_of(GetParam(), port, tls);
  }
  static std::string url_of(const std::string& scheme, std::uint16_t port) {
    return scheme + "+sentinel://127.0.0.1:" + std::to_string(port) + "/locks";
  }

  const words asked_ = {"status", "a", "--connect-timeout", "10s"};
  support::certificate_authority of_servers_{"Authority of the servers"};
  support::certificate_authority of_sentinels_{"Authority of the sentinels"};
};
HOLDFAST_ON_EACH_SERVER(CommandLineOfSentinels);

TEST_P(CommandLineOfSentinels, OptionsAndEnvironmentMeanTheSame) {
  const auto master = start({.tcp = true});
  const auto sentinel =
      sentinel_of(master.port(), support::server_tls{.own = of_sentinels_.issue(),
                                                     .authority = of_sentinels_.file(),
                                                     .demands_client_certificate = true});
  const auto own = of_sentinels_.issue({.hosts = {"client"}});
  const auto url = "HOLDFAST_URL=" + url_of("Redis", sentinel.tls_port());
  const auto by_options =
      holdfast(with(asked_, {"--sentinel-tls-ca", of_sentinels_.file(), "--sentinel-tls-cert",
                             own.certificate, "--sentinel-tls-key", own.key,
                             "--sentinel-tls-server-name", "localhost"}),
               {url, "HOLDFAST_TLS_CA=/for/servers/with/tls"});
  EXPECT_EQ(by_options.how, exited(0)) << by_options.errors;
  const words by_variables = {url, "HOLDFAST_SENTINEL_TLS_CA=" + of_sentinels_.file(),
                              "HOLDFAST_SENTINEL_TLS_CERT=" + own.certificate,
                              "HOLDFAST_SENTINEL_TLS_KEY=" + own.key};
  const auto named = [&](const std::string& host) {
    return holdfast(asked_, with(by_variables, {"HOLDFAST_SENTINEL_TLS_SERVER_NAME=" + host}));
  };
  const auto by_environment = named("localhost");
  EXPECT_EQ(by_environment.how, exited(0)) << by_environment.errors;
  const auto misnamed = named("else");
  EXPECT_EQ(misnamed.how, exited(69));
  EXPECT_THAT(misnamed.errors, HasSubstr("--sentinel-tls-server-name"));
  const auto anybody = holdfast(
      with(asked_, {"--sentinel-tls-insecure-accept-any-certificate", "--sentinel-tls-cert",
                    own.certificate, "--sentinel-tls-key", own.key}),
      {url});
  EXPECT_EQ(anybody.how, exited(0)) << anybody.errors;
}

TEST_P(CommandLineOfSentinels, PlainOnesBeforeServersWithTlsAreAskedForByName) {
  const auto master = start(
      {.tls = support::server_tls{.own = of_servers_.issue(), .authority = of_servers_.file()}});
  const auto sentinel = sentinel_of(master.tls_port(), {});
  const words all = {"HOLDFAST_URL=" + url_of("rediss", sentinel.port()),
                     "HOLDFAST_TLS_CA=" + of_servers_.file(),
                     "HOLDFAST_SENTINEL_TLS_CA=/what/is/usual"};
  const auto said = holdfast(with(asked_, {"--insecure-plain-sentinels"}), all);
  EXPECT_EQ(said.how, exited(0)) << said.errors;
}

TEST(SentinelTlsOptions, AreRefusedWithoutSentinels) {
  for (const auto& option :
       {words{"--sentinel-tls-ca", "x"}, words{"--insecure-plain-sentinels"}}) {
    const auto said = holdfast(with({"status", "a", "--url", "rediss://127.0.0.1:1"}, option));
    EXPECT_EQ(said.how, exited(64)) << option.front();
    EXPECT_THAT(said.errors, HasSubstr("rediss+sentinel://"));
  }
}

TEST_P(CommandLineOfSentinels, TheEnvironmentIsForSentinelsOnly) {
  const auto server = start();
  const auto said = holdfast({"status", "a", "--url", server.url()},
                             {"HOLDFAST_SENTINEL_TLS_CA=/nowhere/ca.pem"});
  EXPECT_EQ(said.how, exited(0)) << said.errors;
}

}  // namespace
}  // namespace holdfast::cli_tests
