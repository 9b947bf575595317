// What `holdfast doctor` says of TLS, however servers are run: to each of them, and to the
// sentinels that lead to them.
#include <algorithm>

#include <holdfast/quorum_inspector.hpp>

#include "faults/faulty_server.hpp"
#include "support/cluster_servers.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::faults {
namespace {

using severity = finding::severity;
using ::testing::HasSubstr;

class DeploymentOverTls : public fault_test {
 protected:
  support::server_tls their_own() {
    return {.own = authority_.issue(), .authority = authority_.file()};
  }
  client_options knowing() const {
    auto options = patient();
    options.tls.ca_file = authority_.file();
    return options;
  }
  static client_options believing_all() {
    auto options = patient();
    options.tls.insecure_accept_any_certificate = true;
    return options;
  }

  // Says so of so many connections, and has nothing worse to say.
  static void expect_ways(std::vector<finding> all, std::size_t many) {
    for (const auto& found : all) {
      EXPECT_NE(found.level, severity::problem) << found.check << ": " << found.detail;
    }
    std::erase_if(all, [](const auto& found) { return found.check != "tls"; });
    EXPECT_EQ(all.size(), many);
    for (const auto& found : all) {
      EXPECT_EQ(found.level, severity::ok) << found.detail;
      EXPECT_THAT(found.detail, HasSubstr("TLSv1.3, TLS_"));
      EXPECT_THAT(found.detail, HasSubstr("has proved who it is"));
    }
  }
  static std::ptrdiff_t warnings(const std::vector<finding>& all) {
    return std::ranges::count_if(all, [](const finding& found) {
      return found.check == "tls" && found.level == severity::warning &&
             found.detail.find("any certificate is accepted") != std::string::npos;
    });
  }

  support::certificate_authority authority_;
};
HOLDFAST_ON_EACH_SERVER(DeploymentOverTls);

TEST_P(DeploymentOverTls, TheMasterAndItsSentinels) {
  const support::sentinel_group group{GetParam(), their_own(), support::generous};
  const auto all = inspector{client{group.url(), knowing()}}.diagnose();
  expect_ways(all, 2);
  EXPECT_TRUE(std::ranges::any_of(all, [](const finding& found) {
    return found.check == "tls" && found.detail.starts_with("sentinels: TLSv1.3");
  }));
  EXPECT_EQ(warnings(inspector{client{group.url(), believing_all()}}.diagnose()), 2);
}

TEST_P(DeploymentOverTls, EachMasterOfACluster) {
  const support::cluster_servers servers{
      {.program = GetParam(), .masters = 3, .replicas = 1, .tls = their_own()}};
  const auto all = inspector{client{servers.url(), knowing()}}.diagnose();
  expect_ways(all, 3);
  const auto is_seen = [](const finding& found) {
    return found.check == "replica" && found.detail.find("bytes behind") != std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(all, is_seen), 1) << "over TLS as well";
  EXPECT_EQ(warnings(inspector{client{servers.url(), believing_all()}}.diagnose()), 3);
}

TEST_P(DeploymentOverTls, EachMemberOfAQuorum) {
  std::vector<private_server> servers;
  for (int i = 0; i < 3; ++i) servers.push_back(start({.tls = their_own()}));
  const auto seen_by = [&](const client_options& options) {
    std::vector<client> members;
    for (const auto& server : servers) members.emplace_back(server.tls_url(), options);
    return quorum_inspector{std::move(members)}.diagnose();
  };
  expect_ways(seen_by(knowing()), 3);
  EXPECT_EQ(warnings(seen_by(believing_all())), 3);
}

}  // namespace
}  // namespace holdfast::faults
