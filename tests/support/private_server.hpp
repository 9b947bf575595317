// A real server of one test's own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/resp/value.hpp"
#include "support/certificates.hpp"

namespace holdfast::support {

struct server_tls {
  certificate_files own;
  std::string authority;  // whose certificates it accepts
  bool demands_client_certificate = false;
};

// In what INFO or CLUSTER INFO says; 0 where that is not there.
std::int64_t number_behind(const std::string& label, const std::string& said);

// Whether HOLDFAST_TEST_TOPOLOGY makes a cluster of each private server.
bool over_cluster();
// Whether it lets clients keep their locks in this process, whatever server there is.
bool in_memory();

struct server_settings {
  std::string program{};                   // empty: whichever server is installed
  bool tcp = false;                        // also listen on a free port of `address`
  std::string address = "127.0.0.1";       // another one: everybody who reaches it is let in
  std::optional<server_tls> tls{};         // also listen with TLS on another one
  std::vector<std::string> arguments{};    // {"--maxmemory", "1mb"}
  std::vector<std::string> environment{};  // {"LD_PRELOAD=..."}, beside what this process has
  bool url_by_tls = false;                 // url() is tls_url()
};

// Listens on a unix socket in a directory of its own, without persistence; ends with this object
// and with this process. Its log is printed when the current test has failed. Throws what is wrong
// when it does not start.
//
// With HOLDFAST_TEST_TLS=1 in the environment, url() leads over TLS and this process trusts the
// server's certificate: so every test runs over TLS as well.
//
// Where the environment variable HOLDFAST_TEST_ACL has the output of `holdfast acl`, there is such
// a user, whose login is in the URLs; the test fails when the server refuses it anything.
//
// With HOLDFAST_TEST_TOPOLOGY=cluster it is a Redis Cluster of one node, and its URLs say so: that
// keys of one command have one hash slot is seen there too, and the test may ask for any key.
//
// With HOLDFAST_TEST_TOPOLOGY=memory url() is `memory:` and a name of its own.
class private_server {
 public:
  explicit private_server(const server_settings& settings = {});
  ~private_server();
  private_server(private_server&&) noexcept;
  private_server& operator=(private_server&&) noexcept;

  const std::string& url() const;  // unix://...; rediss://... with HOLDFAST_TEST_TLS=1
  std::string tcp_url() const;     // redis://ADDRESS:port; only with settings.tcp
  std::uint16_t port() const;      // only with settings.tcp
  std::string tls_url() const;     // rediss://127.0.0.1:port; only with TLS
  std::uint16_t tls_port() const;  // only with TLS
  std::string socket() const;      // path
  int pid() const;
  std::string log() const;

  void freeze();   // SIGSTOP: accepts connections and answers nothing
  void thaw();     // SIGCONT
  void kill9();    // as a crash; waits until it is gone
  void restart();  // ends it in whatever state it is; starts it empty at the same addresses

  // One command over a connection of its own. An error reply is returned like any other.
  resp::value command(const std::vector<std::string>& words) const;
  // How often it has run this command.
  // Without what clients write into the index of held locks, which they do in their own time.
  std::int64_t calls(const std::string& command_name) const;
  std::int64_t commands_processed() const;  // of all kinds, those of this question too

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace holdfast::support
