// Whom a client over TLS believes, and what it says to whom it does not.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "faults/faulty_server.hpp"
#include "support/fake_server.hpp"
#include "support/fault_proxy.hpp"

namespace holdfast::faults {
namespace {

using support::certificate_authority;
using support::certificate_files;
using support::certificate_order;
using support::generous;
using support::server_settings;
using support::server_tls;

class OverTls : public fault_test {
 protected:
  private_server start_with(const certificate_order& order, server_settings settings = {}) {
    return start_with(authority_.issue(order), std::move(settings));
  }
  private_server start_with(const certificate_files& files, server_settings settings = {}) {
    settings.tls = server_tls{.own = files, .authority = authority_.file()};
    return start(settings);
  }
  private_server start_demanding() {
    return start({.tls = server_tls{.own = authority_.issue(),
                                    .authority = authority_.file(),
                                    .demands_client_certificate = true}});
  }

  client_options trusting() const {
    auto options = patient();
    options.tls.ca_file = authority_.file();
    options.password =
        password;  // the servers have none: it is not asked for, but must not be seen
    return options;
  }
  static client_options without_password(client_options options) {
    options.password.clear();
    return options;
  }
  client_options knowing() const { return without_password(trusting()); }
  client_options known_by(const certificate_files& mine) const {
    auto options = knowing();
    options.tls.certificate_file = mine.certificate;
    options.tls.key_file = mine.key;
    return options;
  }

  static void expect_refusal(const private_server& server, const client_options& options,
                             errc reason, const std::string& explanation) {
    expect_failure(client(server.tls_url(), options).mutex("a").try_acquire(), reason, explanation);
  }
  static void expect_works(const std::string& url, const client_options& options) {
    const auto held = client(url, options).mutex("a").try_acquire({.timeout = generous});
    EXPECT_TRUE(held) << why_not(held);
  }

  certificate_authority authority_;
};
HOLDFAST_ON_EACH_SERVER(OverTls);

TEST_P(OverTls, AddressAndNameOfTheCertificateAreBelieved) {
  const auto server = start_with({.hosts = {"localhost", "127.0.0.1"}});
  expect_works(server.tls_url(), knowing());
  expect_works("valkeys://localhost:" + std::to_string(server.tls_port()), knowing());
}

TEST_P(OverTls, AuthoritiesMayLieInADirectory) {
  const auto server = start_with(certificate_order{});
  const auto folder = std::filesystem::path(authority_.file()).parent_path() / "authorities";
  std::filesystem::create_directory(folder);
  auto options = patient();
  options.tls.ca_directory = folder;
  expect_refusal(server, options, errc::untrusted_server, folder.string());
  std::filesystem::copy(authority_.file(), folder / "our.pem");
  ASSERT_EQ(std::system(("openssl rehash '" + folder.string() + "'").c_str()), 0);
  expect_works(server.tls_url(), options);
}

TEST_P(OverTls, AuthorityThatIsNotTrustedIsRefused) {
  const auto server = start_with(certificate_order{});
  expect_refusal(server, patient(), errc::untrusted_server,
                 "issued by 'CN=Holdfast Test Authority', which is no authority that this system");
  const certificate_authority other("Somebody Else");
  auto options = patient();
  options.tls.ca_file = other.file();
  expect_refusal(server, options, errc::untrusted_server, "--tls-ca");
}

TEST_P(OverTls, OtherHostIsRefused) {
  const auto server = start_with({.hosts = {"redis.example", "10.1.2.3"}});
  expect_refusal(server, trusting(), errc::untrusted_server,
                 "is not for '127.0.0.1' but for redis.example, 10.1.2.3");
  const client by_name{"rediss://localhost:" + std::to_string(server.tls_port()), trusting()};
  expect_failure(by_name.mutex("a").try_acquire(), errc::untrusted_server, "not for 'localhost'");
  auto options = knowing();
  options.tls.server_name = "redis.example";  // as behind a tunnel
  expect_works(server.tls_url(), options);
  options.tls.server_name = "10.1.2.3";
  expect_works(server.tls_url(), options);
  options.tls.server_name = "example";
  expect_refusal(server, options, errc::untrusted_server, "not for 'example'");
}

TEST_P(OverTls, SubjectIsNoHost) {
  const auto server = start_with({.hosts = {}});
  auto options = trusting();
  options.tls.server_name = "holdfast-test";  // its common name
  expect_refusal(server, options, errc::untrusted_server, "no host at all");
}

TEST_P(OverTls, ExpiredCertificateIsRefused) {
  const auto server = start_with({.valid = -1h});
  expect_refusal(server, trusting(), errc::untrusted_server, "has expired");
}

TEST_P(OverTls, RefusedServerIsNotStormedAndAnswersAtOnce) {
  const auto server = start_with({.valid = -1h});
  const support::fault_proxy proxy{net::tcp_endpoint{"127.0.0.1", server.tls_port()}};
  const client redis{"rediss://127.0.0.1:" + std::to_string(proxy.port()), trusting()};
  const auto got = redis.mutex("a").try_acquire({.timeout = generous});
  expect_failure(got, errc::untrusted_server, "has expired");
  const auto end = net::now() + 300ms;
  while (net::now() < end) (void)redis.mutex("a").try_acquire({.timeout = 10ms});
  EXPECT_LE(proxy.connections(), 2U);
}

TEST_P(OverTls, AnyCertificateIsTakenOnlyWhenAskedFor) {
  const auto server = start_with({.hosts = {"elsewhere"}, .valid = -1h});
  auto options = patient();
  options.tls.insecure_accept_any_certificate = true;
  expect_works(server.tls_url(), options);
  const auto findings = inspector{client{server.tls_url(), options}}.diagnose();
  const auto about = std::find_if(findings.begin(), findings.end(),
                                  [](const finding& one) { return one.check == "tls"; });
  ASSERT_NE(about, findings.end());
  EXPECT_EQ(about->level, finding::severity::warning);
}

TEST_P(OverTls, DiagnosisNamesVersionAndCipher) {
  const auto server = start_with(certificate_order{});
  const auto findings = inspector{client{server.tls_url(), knowing()}}.diagnose();
  const auto about = std::find_if(findings.begin(), findings.end(),
                                  [](const finding& one) { return one.check == "tls"; });
  ASSERT_NE(about, findings.end());
  EXPECT_EQ(about->level, finding::severity::ok);
  EXPECT_THAT(about->detail, ::testing::HasSubstr("TLSv1.3, TLS_"));
}

TEST_P(OverTls, DiagnosisTellsWhoMayComeInWithTlsAlone) {
  const auto server = start_with(certificate_order{});
  const auto access = [&](const client_options& options) {
    for (auto& found : inspector{client{server.tls_url(), options}}.diagnose()) {
      if (found.check == "access") return found;
    }
    return finding{};
  };
  const auto options = known_by(authority_.issue({.hosts = {"client"}}));
  EXPECT_THAT(access(options).detail, ::testing::HasSubstr("on this machine only"));
  server.command({"CONFIG", "SET", "bind", "0.0.0.0"});
  server.command({"CONFIG", "SET", "protected-mode", "no"});
  EXPECT_EQ(access(options).level, finding::severity::warning) << access(options).detail;
  server.command({"CONFIG", "SET", "tls-auth-clients", "yes"});
  EXPECT_EQ(access(options).level, finding::severity::ok);
  EXPECT_THAT(access(options).detail, ::testing::HasSubstr("a certificate of its clients"));
  server.command({"CONFIG", "SET", "requirepass", password});
  auto with_password = options;
  with_password.password = password;
  EXPECT_THAT(access(with_password).detail, ::testing::HasSubstr("a password is asked for"));
}

TEST_P(OverTls, Version12IsEnoughAndOlderIsNot) {
  const auto recent =
      start_with(certificate_order{}, {.arguments = {"--tls-protocols", "TLSv1.2"}});
  expect_works(recent.tls_url(), knowing());
  const auto old = start_with(
      certificate_order{},
      {.arguments = {"--tls-protocols", "TLSv1 TLSv1.1", "--tls-ciphers", "DEFAULT:@SECLEVEL=0"}});
  expect_refusal(old, trusting(), errc::untrusted_server, "no TLS of version 1.2");
}

TEST_P(OverTls, DemandedClientCertificateIsGiven) {
  const auto server = start_demanding();
  auto options = trusting();
  expect_refusal(server, options, errc::authentication, "demands a certificate of its clients");
  const auto own = authority_.issue({.hosts = {"client"}});
  options = known_by(own);
  expect_works(server.tls_url(), options);

  const auto both = own.certificate + ".both";
  std::ofstream(both) << std::ifstream(own.certificate).rdbuf() << std::ifstream(own.key).rdbuf();
  options.tls.certificate_file = both;
  options.tls.key_file.clear();
  expect_works(server.tls_url(), options);

  certificate_authority other("Somebody Else");
  const auto strange = other.issue();
  options = trusting();
  options.tls.certificate_file = strange.certificate;
  options.tls.key_file = strange.key;
  expect_refusal(server, options, errc::authentication, "the server refuses our certificate");
}

TEST_P(OverTls, PlainServerIsToldAsSuch) {
  const auto server = start({.tcp = true});
  auto options = trusting();
  options.connect_timeout = 500ms;
  const client redis{"rediss://127.0.0.1:" + std::to_string(server.port()), options};
  const auto got = redis.mutex("a").try_acquire();
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().what(), ::testing::HasSubstr("write redis://"));
  EXPECT_THAT(got.error().what(), ::testing::Not(::testing::HasSubstr(password)));
}

TEST_P(OverTls, TlsServerBehindAPlainAddressIsToldAsSuch) {
  const auto server = start_with(certificate_order{});
  const auto place = "127.0.0.1:" + std::to_string(server.tls_port());
  const client redis{"redis://" + place, patient()};
  for (const auto timeout : {1h, 0h}) {
    expect_failure(redis.mutex("a").try_acquire({.timeout = timeout}), errc::not_redis,
                   place + " speaks TLS: write rediss:// instead of redis://");
  }
}

TEST(PlainClient, UnderstandsTheComplaintOfATlsServer) {
  support::fake_server server;
  server.greet(support::fake_server::answer(std::string("\x15\x03\x01\x00\x02\x02\x46", 7)));
  const client redis{server.url(), impatient()};
  expect_failure(redis.mutex("a").try_acquire(), errc::not_redis, "write rediss://");
}

TEST_P(OverTls, CertificatesAreReadAgainAtEachConnection) {
  const auto own = authority_.issue();
  auto server =
      start({.tls = server_tls{
                 .own = own, .authority = authority_.file(), .demands_client_certificate = true}});
  const auto mine = authority_.issue({.hosts = {"client"}});
  const auto options = known_by(mine);
  const client redis{server.tls_url(), options};
  ASSERT_TRUE(redis.mutex("a").try_acquire());

  // Everything is new, under the same names: authority, the server's and the client's certificate.
  certificate_authority next("Holdfast Next Authority");
  next.issue({}, own);
  next.issue({.hosts = {"client"}}, mine);
  std::filesystem::copy_file(next.file(), authority_.file(),
                             std::filesystem::copy_options::overwrite_existing);
  server.restart();
  const auto held = redis.mutex("a").try_acquire({.timeout = generous});
  EXPECT_TRUE(held) << why_not(held);
}

// As daemons do it when their clients have been made.
TEST_P(OverTls, FilesAreFoundAlsoFromAnotherDirectory) {
  const auto server = start_demanding();
  const auto mine = authority_.issue({.hosts = {"client"}});
  auto options = known_by(mine);
  const auto home = std::filesystem::current_path();
  std::filesystem::current_path("/");
  for (auto* const path :
       {&options.tls.ca_file, &options.tls.certificate_file, &options.tls.key_file}) {
    path->erase(0, 1);
  }
  const client redis{server.tls_url(), options};
  std::filesystem::current_path(home);
  const auto held = redis.mutex("a").try_acquire({.timeout = generous});
  EXPECT_TRUE(held) << why_not(held);
}

TEST_P(OverTls, HalfExchangedFilesAreTriedAgain) {
  const auto server = start_demanding();
  const auto mine = authority_.issue({.hosts = {"client"}});
  const auto options = known_by(mine);
  const client redis{server.tls_url(), options};
  ASSERT_TRUE(redis.mutex("a").try_acquire());
  const auto good = mine.key + ".good";
  std::filesystem::rename(mine.key, good);
  server.command({"CLIENT", "KILL", "TYPE", "pubsub"});  // it listens for messages
  EXPECT_TRUE(eventually([&] {  // the first one may only hear that the connection is gone
    const auto got = redis.mutex("b").try_acquire();
    return why_not(got).find("'" + mine.key + "' cannot be read") != std::string::npos;
  }));
  std::filesystem::rename(good, mine.key);
  const auto held = redis.mutex("b").try_acquire({.timeout = generous});
  EXPECT_TRUE(held) << why_not(held);
}

// Options that are refused when the client is made, without a server.

template <typename Change>
void expect_refused_options(Change&& change, const std::string& explanation,
                            const std::string& url = "rediss://127.0.0.1:1") {
  client_options options;
  options.password = password;
  change(options.tls);
  try {
    const client redis{url, options};
    ADD_FAILURE() << "accepted, expected: " << explanation;
  } catch (const failure& refused) {
    EXPECT_EQ(refused.reason(), errc::invalid_argument) << refused.what();
    EXPECT_THAT(refused.what(), ::testing::HasSubstr(explanation));
    EXPECT_THAT(refused.what(), ::testing::Not(::testing::HasSubstr(password)));
  }
}

TEST(TlsOptions, AreRefusedWithoutTls) {
  for (const char* url : {"redis://127.0.0.1", "unix:///s", "embedded:"}) {
    expect_refused_options([](auto& tls) { tls.ca_file = "/a"; }, "not rediss://", url);
    expect_refused_options([](auto& tls) { tls.insecure_accept_any_certificate = true; },
                           "nothing would be encrypted", url);
  }
}

TEST(TlsOptions, MustNameFilesThatCanBeUsed) {
  certificate_authority authority;
  const auto one = authority.issue();
  const auto other = authority.issue();
  const auto empty = one.key + ".empty";
  std::ofstream{empty};
  const auto folder = std::filesystem::path(empty).parent_path().string();
  expect_refused_options([](auto& tls) { tls.ca_file = "/not/there"; },
                         "tls.ca_file '/not/there' cannot be read: No such file");
  expect_refused_options([&](auto& tls) { tls.ca_file = folder; }, "is a directory");
  const auto fifo = one.key + ".fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  expect_refused_options([&](auto& tls) { tls.ca_file = fifo; }, "is no regular file");
  expect_refused_options([&](auto& tls) { tls.certificate_file = fifo; }, "is no regular file");
  expect_refused_options([&](auto& tls) { tls.ca_directory = empty; }, "is not a directory");
  expect_refused_options([&](auto& tls) { tls.ca_file = empty; }, "holds no certificate");
  expect_refused_options([&](auto& tls) { tls.certificate_file = empty; }, "holds no certificate");
  expect_refused_options([&](auto& tls) { tls.certificate_file = one.certificate; },
                         "holds no private key");
  expect_refused_options([&](auto& tls) { tls.key_file = one.key; },
                         "tls.key_file needs certificate_file");
  const auto both = [&](const std::string& key) {
    return [&, key](tls_options& tls) {
      tls.certificate_file = one.certificate;
      tls.key_file = key;
    };
  };
  expect_refused_options(both("/not/there"), "tls.key_file '/not/there' cannot be read");
  expect_refused_options(both(empty), "holds no private key");
  expect_refused_options(both(other.key), "does not fit the certificate '" + one.certificate);
}

TEST(TlsOptions, MustNotContradictThemselves) {
  certificate_authority authority;
  expect_refused_options(
      [&](auto& tls) {
        tls.ca_file = authority.file();
        tls.insecure_accept_any_certificate = true;
      },
      "give one or the other");
  expect_refused_options([](auto& tls) { tls.server_name = ".example"; }, "one host name");
}

TEST(TlsOptions, KeyWithAPassphraseIsRefusedWithoutAsking) {
  certificate_authority authority;
  const auto one = authority.issue();
  const auto locked = one.key + ".locked";
  const auto command =
      "openssl pkcs8 -topk8 -passout pass:x -in '" + one.key + "' -out '" + locked + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  expect_refused_options(
      [&](auto& tls) {
        tls.certificate_file = one.certificate;
        tls.key_file = locked;
      },
      "is protected by a passphrase");
}

}  // namespace
}  // namespace holdfast::faults
