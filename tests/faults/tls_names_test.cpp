// Certificates of our authority that are not for the host that is meant: whatever the link is for,
// such a server is told nothing.
#include <algorithm>

#include "faults/faulty_server.hpp"
#include "support/cluster_servers.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::faults {
namespace {

using namespace std::string_literals;
using support::certificate_authority;
using support::certificate_order;
using support::cluster_servers;
using support::server_tls;

// The names in a certificate, and the addresses that it is for, and is not.
struct naming {
  certificate_order order;
  std::vector<std::string> is_not_for;
  std::vector<std::string> is_for{};
};

const std::vector<naming>& namings() {
  static const std::vector<naming> all{
      // The subject is nobody's host, also where nothing else is said (RFC 9525).
      {{.hosts = {}, .common_name = "localhost"}, {"localhost"}},
      {{.hosts = {"redis.example.org"}, .common_name = "localhost"},
       {"localhost", "127.0.0.1", "example.org", "a.redis.example.org", "redis.example.or"},
       {"redis.example.org", "REDIS.Example.org"}},
      // A name says nothing about addresses, nor the other way round.
      {{.hosts = {"localhost"}, .common_name = "127.0.0.1", .dns_names = {"127.0.0.1", "*.0.0.1"}},
       {"127.0.0.1", "::1"},
       {"localhost"}},
      {{.hosts = {"127.0.0.1", "::1"}}, {"localhost", "127.0.0.2", "::2"}, {"127.0.0.1", "::1"}},
      // A star is one whole label, the leftmost, and never all of a domain that others share.
      {{.hosts = {}, .dns_names = {"*.example.org"}},
       {"example.org", "a.b.example.org", "aexample.org", "127.0.0.1"},
       {"redis.example.org"}},
      {{.hosts = {},
        .dns_names = {"*", "*.org", "r*.example.org", "*s.example.org", "r*s.example.org",
                      "redis.*.org", "*.*.org", ".example.org", "**.example.org"}},
       {"redis.example.org", "example.org", "localhost"}},
      // A zero byte ends no name.
      {{.hosts = {},
        .dns_names = {"localhost\0.evil.example"s, "localhost\0"s, "\0localhost"s,
                      "*.example.org\0.evil"s, "redis\0.example.org"s}},
       {"localhost", "redis.example.org"}},
  };
  return all;
}

// Of these one of each kind will do where the link is another.
const std::vector<certificate_order>& not_for_localhost() {
  static const std::vector<certificate_order> all{
      {.hosts = {"redis.example.org"}, .common_name = "127.0.0.1"},
      {.hosts = {"localhost"}, .dns_names = {"127.0.0.1", "*", "127.0.0.1\0.evil.example"s}},
  };
  return all;
}

bool is_control(char byte) { return byte >= 0 && byte < ' '; }

class NamesOverTls : public fault_test {
 protected:
  server_tls tls_with(const certificate_order& order = {}) {
    return {.own = authority_.issue(order), .authority = authority_.file()};
  }
  // Any other host is one behind a tunnel, say.
  static std::string place(const std::string& host, std::uint16_t port) {
    return (host == "localhost" ? host : "127.0.0.1") + ":" + std::to_string(port);
  }
  client_options trusting() const {
    auto options = patient();
    options.password = password;  // no server has one; whoever is not believed must not hear it
    options.tls.ca_file = authority_.file();
    return options;
  }
  client_options meaning(const std::string& host) const {
    auto options = trusting();
    if (host != "localhost" && host != "127.0.0.1") options.tls.server_name = host;
    return options;
  }
  static client_options without_password(client_options options) {
    options.password.clear();
    return options;
  }

  static void expect_refusal(const client& redis, const std::string& explanation,
                             const std::string& lock = "a") {
    const auto got = redis.mutex(lock).try_acquire();
    expect_failure(got, errc::untrusted_server, explanation);
    const auto what = why_not(got);
    EXPECT_TRUE(std::ranges::none_of(what, is_control)) << ::testing::PrintToString(what);
  }
  static void expect_works(const client& redis, const std::string& lock = "a") {
    const auto held = redis.mutex(lock).try_acquire({.timeout = support::generous});
    EXPECT_TRUE(held) << why_not(held);
  }
  static void expect_to_have_heard_nothing(const private_server& server) {
    const auto heard = server.command({"INFO", "commandstats"}).text;
    EXPECT_EQ(heard.find("cmdstat_hello"), heard.npos) << heard;
  }

  certificate_authority authority_;
};
HOLDFAST_ON_EACH_SERVER(NamesOverTls);

TEST_P(NamesOverTls, ServerIsBelievedByItsNamesAlone) {
  for (const auto& [order, is_not_for, is_for] : namings()) {
    const auto server = start({.tls = tls_with(order)});
    for (const auto& host : is_not_for) {
      SCOPED_TRACE(host);
      expect_refusal(client{"rediss://" + place(host, server.tls_port()), meaning(host)},
                     "certificate is not for '" + host + "'");
    }
    expect_to_have_heard_nothing(server);
    for (const auto& host : is_for) {
      SCOPED_TRACE(host);
      expect_works(
          client{"rediss://" + place(host, server.tls_port()), without_password(meaning(host))});
    }
  }
}

TEST_P(NamesOverTls, SentinelIsBelievedByItsNamesAlone) {
  const auto master = start({.tls = tls_with()});
  for (const auto& order : not_for_localhost()) {
    const auto sentinel =
        support::start_sentinel_of(GetParam(), master.tls_port(), tls_with(order));
    const auto url = "rediss+sentinel://" + place("127.0.0.1", sentinel.tls_port()) + "/locks";
    auto options = trusting();
    options.sentinel_password = password;
    expect_refusal(client{url, options}, "certificate is not for '127.0.0.1'");
    options = trusting();
    options.sentinel_tls = options.tls;  // the same by options of its own
    expect_refusal(client{url, options}, "certificate is not for '127.0.0.1'");
    expect_to_have_heard_nothing(sentinel);
  }
  expect_to_have_heard_nothing(master);
}

TEST_P(NamesOverTls, MasterThatASentinelNamesIsBelievedByItsNamesAlone) {
  for (const auto& order : not_for_localhost()) {
    const auto master = start({.tls = tls_with(order)});
    const auto sentinel = support::start_sentinel_of(GetParam(), master.tls_port(), tls_with());
    const auto url = "rediss+sentinel://" + place("127.0.0.1", sentinel.tls_port()) + "/locks";
    expect_refusal(client{url, trusting()}, "certificate is not for '127.0.0.1'");
    expect_to_have_heard_nothing(master);
  }
}

TEST_P(NamesOverTls, NodeThatAClusterNamesIsBelievedByItsNamesAlone) {
  const auto own = authority_.issue();
  cluster_servers servers{{.program = GetParam(),
                           .masters = 2,
                           .tls = server_tls{.own = own, .authority = authority_.file()}}};
  const auto url = servers.url({0});
  const auto options = without_password(trusting());
  const auto there = servers.name_at(1, "a");
  expect_works(client{url, options}, there);
  for (const auto& order : not_for_localhost()) {
    authority_.issue(order, own);
    // It reads the files again; the others have still what they had.
    servers.node(1).command({"CONFIG", "SET", "tls-cert-file", own.certificate});
    const client redis{url, options};
    expect_works(redis, servers.name_at(0, "a"));
    expect_refusal(redis, "certificate is not for '127.0.0.1'", there);
    expect_refusal(client{servers.url({1}), options}, "certificate is not for '127.0.0.1'", there);
  }
}

}  // namespace
}  // namespace holdfast::faults
