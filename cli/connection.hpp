// Which server the program talks to, and as whom.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/client.hpp>
#include <holdfast/observer.hpp>

namespace holdfast::cli {

// Those for TLS, as they stand on the command line.
struct tls_arguments {
  std::string authorities;  // a file or a directory
  std::string certificate;
  std::string key;
  std::string server_name;
  bool accept_any_certificate = false;

  bool operator==(const tls_arguments&) const = default;
};

// Options for grants that survive a failover, or whose loss clients notice.
struct failover_arguments {
  std::uint32_t min_replicas = 0;
  bool replicas_fsync = false;
  std::chrono::milliseconds quarantine{0};
};

class password_command;

struct connection_options {
  std::string url = "redis://127.0.0.1:6379";
  bool url_given = false;  // by --url or HOLDFAST_URL
  std::string username;
  std::string password_file;  // read again at every log-in
  std::string password;  // its first line for now, or from the environment or a file, never from
                         // the command line
  std::shared_ptr<cli::password_command> password_command;  // gives it instead; may be null
  bool login_given = false;  // by an option, or at least a part of it
  std::string tenant;
  std::string audit;  // client_options::audit
  std::string sentinel_username;
  std::string sentinel_password;
  std::string sentinel_password_file;  // read again whenever a sentinel is connected to
  tls_arguments tls;
  tls_arguments sentinel_tls;  // none: as the servers
  bool plain_sentinels = false;
  std::chrono::milliseconds connect_timeout{2000};
  std::chrono::milliseconds response_timeout{2000};
  failover_arguments failover;
  std::shared_ptr<observer> told;  // what happens to the locks of all its clients
  std::stop_source stop;           // of what all its clients ask

  // How all that a tenant has begins; without one, nothing.
  std::string tenant_prefix() const { return tenant.empty() ? "" : "hf:@" + tenant + ":"; }
  // How the keys of its locks begin: client_options::tenant.
  std::string key_prefix() const { return tenant.empty() ? "hf:" : tenant_prefix(); }

  // For the server of this URL: a user from the environment is not meant for private servers, and
  // TLS options from it only for servers over TLS, or for sentinels.
  client_options for_client(std::string_view server) const;
  // Throws `failure` like holdfast::client: does not connect yet.
  client connect() const;

  // For a command that will speak to the server itself: throws a failure if something is wrong with
  // it. Signals end the program meanwhile.
  client connect_and_ask() const;
  client connect_to(const std::string& url) const;

  // Keeps an audit trail of these locks; empty: as HOLDFAST_AUDIT says.
  void keep_audit(const std::string& pattern);
  // Instead of the URL: a private server of ours, which knows neither users nor TLS.
  void use_private(const std::string& own_url);
  // Goes by the user and password of the URL alone.
  void forget_login();
};

// The connection options as they stand on the command line.
struct connection_arguments {
  std::string url;
  std::string username;
  std::string tenant;
  std::string password_file;
  std::string password_command;
  std::chrono::milliseconds password_valid_for{0};
  std::string sentinel_password_file;
  tls_arguments tls;
  tls_arguments sentinel_tls;
  bool plain_sentinels = false;
  std::chrono::milliseconds connect_timeout{2000};
  std::chrono::milliseconds response_timeout{2000};
  failover_arguments failover;
};

// True for "scheme://user:password@...".
bool has_password(std::string_view url);

// Throws `complaint`: every user of the machine could read the password in an option. `instead`
// names the safe way.
void refuse_password_in(std::string_view option, std::string_view url, std::string_view instead);

// Adds HOLDFAST_URL, HOLDFAST_TENANT, HOLDFAST_USER, HOLDFAST_PASSWORD, HOLDFAST_PASSWORD_COMMAND,
// user and password of sentinels, and HOLDFAST_TLS_... and HOLDFAST_SENTINEL_TLS_... to the given
// options; insecure ones must be given. Throws `complaint` for an unreadable password file, for a
// password on the command line, where every user of the machine could read it, and for
// --replicas-fsync without replicas.
connection_options resolve(const connection_arguments& given);

}  // namespace holdfast::cli
