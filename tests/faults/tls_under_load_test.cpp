// Certificates are exchanged while clients work, in the order in which operators do it: first both
// authorities are trusted, then everybody has a certificate of the new one, then the old is gone.
#include <sstream>

#include "faults/undisturbed.hpp"

namespace holdfast::faults {
namespace {

using support::certificate_authority;
using support::certificate_files;

class TlsUnderLoad : public fault_test {};
HOLDFAST_ON_EACH_SERVER(TlsUnderLoad);

void trust(const std::string& file, const std::vector<const certificate_authority*>& authorities) {
  std::ostringstream all;
  for (const auto* const one : authorities) all << std::ifstream(one->file()).rdbuf();
  replace_file(file, all.str());
}

// The server reads its files again, everybody has to connect again, and the work goes on.
void renew(const private_server& server, const certificate_files& own, const std::string& trusted) {
  const auto said = server.command({"CONFIG", "SET", "tls-cert-file", own.certificate,
                                    "tls-key-file", own.key, "tls-ca-cert-file", trusted});
  ASSERT_EQ(said.text, "OK");
  server.command({"CLIENT", "KILL", "TYPE", "normal"});
  server.command({"CLIENT", "KILL", "TYPE", "pubsub"});
  expect_work_at(server);
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
  const auto connect = [&] { return client{server.tls_url(), options}; };
  expect_undisturbed(GetParam(), connect, 10s, [&] {
    trust(trusted, {&first, &second});
    renew(server, own, trusted);
    renew(server, next, trusted);
    // Between the two files a connection may find a key that does not fit: it is tried again.
    second.issue({.hosts = {"client"}}, mine);
    renew(server, next, trusted);
    trust(trusted, {&second});
    renew(server, next, trusted);
  });
}

}  // namespace
}  // namespace holdfast::faults
