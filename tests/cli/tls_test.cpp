// The options for TLS on the command line and in the environment.
#include "cli/program.hpp"
#include "support/certificates.hpp"

namespace holdfast::cli_tests {
namespace {

class CommandLineOverTls : public CommandLine {
 protected:
  private_server start_tls() {
    return start({.tls = support::server_tls{.own = authority_.issue(),
                                             .authority = authority_.file(),
                                             .demands_client_certificate = true}});
  }

  support::certificate_authority authority_;
};
HOLDFAST_ON_EACH_SERVER(CommandLineOverTls);

TEST_P(CommandLineOverTls, OptionsAndEnvironmentMeanTheSame) {
  const auto server = start_tls();
  const auto own = authority_.issue({.hosts = {"client"}});
  const auto url = server.tls_url();
  const auto by_options =
      holdfast({"doctor", "--url", url, "--tls-ca", authority_.file(), "--tls-cert",
                own.certificate, "--tls-key", own.key, "--tls-server-name", "localhost"});
  EXPECT_THAT(by_options.output, HasSubstr("TLSv1.3, TLS_")) << by_options.errors;
  const auto by_environment = holdfast(
      {"status", "a"}, {"HOLDFAST_URL=" + url, "HOLDFAST_TLS_CA=" + authority_.file(),
                        "HOLDFAST_TLS_CERT=" + own.certificate, "HOLDFAST_TLS_KEY=" + own.key,
                        "HOLDFAST_TLS_SERVER_NAME=localhost"});
  EXPECT_EQ(by_environment.how, exited(0)) << by_environment.errors;
}

TEST_P(CommandLineOverTls, WhoCannotProveHimselfIsNoServer) {
  const auto server = start(
      {.tls = support::server_tls{.own = authority_.issue(), .authority = authority_.file()}});
  const auto strange = holdfast({"status", "a", "--url", server.tls_url()});
  EXPECT_EQ(strange.how, exited(69));
  EXPECT_THAT(strange.errors, HasSubstr("--tls-ca"));
  const auto accepted =
      holdfast({"doctor", "--url", server.tls_url(), "--tls-insecure-accept-any-certificate"});
  EXPECT_THAT(accepted.output, HasSubstr("any certificate is accepted"));
}

TEST(TlsOptions, AreRefusedWithoutTls) {
  const auto said = holdfast({"status", "a", "--url", "redis://127.0.0.1:1", "--tls-cert", "x"});
  EXPECT_EQ(said.how, exited(64));
  EXPECT_THAT(said.errors, HasSubstr("nothing would be encrypted"));
}

}  // namespace
}  // namespace holdfast::cli_tests
