// Certificates are exchanged while clients work, in the order in which operators do it: first both
// authorities are trusted, then everybody has a certificate of the new one, then the old is gone.
#include <filesystem>
#include <fstream>

#include "faults/faulty_server.hpp"
#include "faults/runs/contended_run.hpp"

namespace holdfast::faults {
namespace {

using history::kind;
using support::certificate_authority;
using support::certificate_files;

constexpr milliseconds lease_time{3000};

class TlsUnderLoad : public fault_test {};
HOLDFAST_ON_EACH_SERVER(TlsUnderLoad);

// In one step, so that nobody reads half of it.
void trust(const std::string& file, const std::vector<const certificate_authority*>& authorities) {
  {
    std::ofstream all(file + ".new");
    for (const auto* const one : authorities) all << std::ifstream(one->file()).rdbuf();
  }
  std::filesystem::rename(file + ".new", file);
}

// The server reads its files again, everybody has to connect again, and the work goes on.
void renew(const private_server& server, const certificate_files& own, const std::string& trusted) {
  const auto said = server.command({"CONFIG", "SET", "tls-cert-file", own.certificate,
                                    "tls-key-file", own.key, "tls-ca-cert-file", trusted});
  ASSERT_EQ(said.text, "OK");
  server.command({"CLIENT", "KILL", "TYPE", "normal"});
  server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
  const auto before = server.calls("evalsha");
  EXPECT_TRUE(eventually([&] { return server.calls("evalsha") > before + 30; }));
}

TEST_P(TlsUnderLoad, NobodyIsStopped) {
  certificate_authority first("Holdfast First Authority"), second("Holdfast Second Authority");
  const auto trusted = first.file() + ".trusted";
  trust(trusted, {&first});
  const auto own = first.issue(), next = second.issue();
  const auto mine = first.issue({.hosts = {"client"}});
  const auto server =
      start({.tls = support::server_tls{
                 .own = own, .authority = trusted, .demands_client_certificate = true}});
  client_options options;
  options.tls.ca_file = trusted;
  options.tls.certificate_file = mine.certificate;
  options.tls.key_file = mine.key;
  const auto locks = [&] {
    const client redis{server.tls_url(), options};
    std::vector<contended> all;
    for (const bool fair : {false, true}) {
      const lock_options how{.lease = lease_time, .fair = fair};
      const std::string name = fair ? "fair" : "usual";
      all.push_back({name, how, {{redis.mutex(name, how)}}});
    }
    return all;
  };
  const client outside{server.tls_url(), options};
  const auto held = outside.mutex("held", {.lease = lease_time}).acquire();
  contended_run run(GetParam());
  run.play({locks(), locks()}, 10s, [&] {
    trust(trusted, {&first, &second});
    renew(server, own, trusted);
    renew(server, next, trusted);
    // Between the two files a connection may find a key that does not fit: it is tried again.
    second.issue({.hosts = {"client"}}, mine);
    renew(server, next, trusted);
    trust(trusted, {&second});
    renew(server, next, trusted);
  });
  EXPECT_EQ(run.violations(), "");
  EXPECT_EQ(run.count(kind::lost), 0U);
  EXPECT_GT(run.count(kind::won), 100U);
  EXPECT_TRUE(held.held());
  RecordProperty("won", std::to_string(run.count(kind::won)));
}

}  // namespace
}  // namespace holdfast::faults
