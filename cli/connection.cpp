#include "cli/connection.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <holdfast/inspector.hpp>

#include "cli/complaint.hpp"
#include "cli/password_command.hpp"
#include "cli/server_address.hpp"
#include "cli/signals.hpp"
#include "cli/text_file.hpp"

namespace holdfast::cli {
namespace {

std::string environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::string{} : std::string{value};
}

std::string given_or(const std::string& given, const std::string& variable) {
  return given.empty() ? environment(variable) : given;
}

tls_arguments or_environment(tls_arguments given, const std::string& prefix) {
  given.authorities = given_or(given.authorities, prefix + "_CA");
  given.certificate = given_or(given.certificate, prefix + "_CERT");
  given.key = given_or(given.key, prefix + "_KEY");
  given.server_name = given_or(given.server_name, prefix + "_SERVER_NAME");
  return given;
}

tls_options as_options(const tls_arguments& given) {
  tls_options options;
  std::error_code unknown;
  const bool directory = std::filesystem::is_directory(given.authorities, unknown);
  (directory ? options.ca_directory : options.ca_file) = given.authorities;
  options.certificate_file = given.certificate;
  options.key_file = given.key;
  options.server_name = given.server_name;
  options.insecure_accept_any_certificate = given.accept_any_certificate;
  return options;
}

std::string password_in(const std::string& path) {
  auto line = read_text(path, "password_file", "password file", extent::first_line);
  refuse_if_readable_by_all(path, "password_file", "password file");
  if (line.ends_with('\r')) line.pop_back();
  if (!line.empty()) return line;
  throw complaint{bad_configuration, "password_file",
                  fmt::format("the first line of the password file '{}' is empty", path)};
}

void check_failover(const failover_arguments& given) {
  if (!given.replicas_fsync || given.min_replicas > 0) return;
  throw complaint{usage, "usage",
                  "--replicas-fsync needs --min-replicas, which says how many replicas must have a "
                  "grant, 1 or more"};
}

// A program that asks a service for a token takes longer than to connect to a server. So it gets
// ten times as long.
constexpr int times_to_connect = 10;

std::shared_ptr<password_command> command_of(const connection_arguments& given) {
  const bool has_file = !given.password_file.empty();
  if (has_file && !given.password_command.empty()) {
    throw complaint{usage, "usage",
                    "--password-command and --password-file exclude each other: a password comes "
                    "from one of them"};
  }
  auto command =
      has_file ? std::string{} : given_or(given.password_command, "HOLDFAST_PASSWORD_COMMAND");
  if (command.empty() && given.password_valid_for > std::chrono::milliseconds{0}) {
    throw complaint{usage, "usage",
                    "--password-valid-for needs --password-command, whose password it is about"};
  }
  if (command.empty()) return nullptr;
  return std::make_shared<password_command>(std::move(command), given.password_valid_for,
                                            times_to_connect * given.connect_timeout);
}

// A file is read again at each log-in. A pipe can be read only once.
std::string if_read_again(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown) ? path : std::string{};
}

}  // namespace

client_options connection_options::for_client(std::string_view server) const {
  client_options options;
  options.name = "holdfast";
  options.tenant = tenant;
  if (login_given || !is_embedded(server)) {
    options.username = username;
    options.password = password;
    options.password_file = password_file;
    if (password_command != nullptr) options.credentials = password_command->callback();
  }
  options.sentinel_username = sentinel_username;
  options.sentinel_password = sentinel_password;
  options.sentinel_password_file = sentinel_password_file;
  options.tls = as_options(is_over_tls(server) ? or_environment(tls, "HOLDFAST_TLS") : tls);
  const bool may_be_apart = has_sentinels(server) && !plain_sentinels;
  const auto apart =
      may_be_apart ? or_environment(sentinel_tls, "HOLDFAST_SENTINEL_TLS") : sentinel_tls;
  if (apart != tls_arguments{}) options.sentinel_tls = as_options(apart);
  options.insecure_plain_sentinels = plain_sentinels;
  options.connect_timeout = connect_timeout;
  options.response_timeout = response_timeout;
  options.stop = stop.get_token();
  options.observer = told;
  options.min_replicas = failover.min_replicas;
  options.replicas_fsync = failover.replicas_fsync;
  options.quarantine = failover.quarantine;
  options.audit = audit;
  return options;
}

client connection_options::connect() const { return connect_to(url); }

client connection_options::connect_and_ask() const {
  auto made = connect();
  (void)read_address(*this);
  const ends_at_once meanwhile;
  (void)inspector{made}.status("holdfast");
  return made;
}

client connection_options::connect_to(const std::string& server) const {
  if (is_in_memory(server)) {
    throw complaint{bad_configuration, "unsupported",
                    "locks of memory: are within one process, so this would exclude nobody: give "
                    "the URL of a server, or embedded:/DIRECTORY for the programs of this machine"};
  }
  auto options = for_client(server);
  if (options.credentials) {
    const ends_at_once meanwhile;
    password_command->try_once();
  }
  return client{server, std::move(options)};
}

void connection_options::keep_audit(const std::string& pattern) {
  audit = given_or(pattern, "HOLDFAST_AUDIT");
}

void connection_options::use_private(const std::string& own_url) {
  url = own_url;
  url_given = true;
  forget_login();
  tls = sentinel_tls = {};
  plain_sentinels = false;
}

void connection_options::forget_login() {
  username.clear();
  password_file.clear();
  password.clear();
  password_command.reset();
}

bool has_password(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return false;
  const auto login = url.substr(scheme + 3, url.rfind('@') - scheme - 3);
  const auto colon = login.find(':');
  return url.rfind('@') != std::string_view::npos && colon != std::string_view::npos &&
         colon + 1 < login.size();
}

void refuse_password_in(std::string_view option, std::string_view url, std::string_view instead) {
  if (!has_password(url)) return;
  throw complaint{usage, "usage",
                  fmt::format("{} contains a password, which every user of this machine could "
                              "read; use {}",
                              option, instead)};
}

connection_options resolve(const connection_arguments& given) {
  refuse_password_in("--url", given.url, "HOLDFAST_PASSWORD or --password-file");
  check_failover(given.failover);
  connection_options options;
  const auto url = given_or(given.url, "HOLDFAST_URL");
  options.url_given = !url.empty();
  if (options.url_given) options.url = url;
  options.username = given_or(given.username, "HOLDFAST_USER");
  options.tenant = given_or(given.tenant, "HOLDFAST_TENANT");
  options.password_command = command_of(given);
  options.password_file = if_read_again(given.password_file);
  options.password = given.password_file.empty() ? environment("HOLDFAST_PASSWORD")
                                                 : password_in(given.password_file);
  options.sentinel_username = environment("HOLDFAST_SENTINEL_USER");
  options.sentinel_password_file = if_read_again(given.sentinel_password_file);
  options.sentinel_password = given.sentinel_password_file.empty()
                                  ? environment("HOLDFAST_SENTINEL_PASSWORD")
                                  : password_in(given.sentinel_password_file);
  options.login_given =
      !given.username.empty() || !given.password_file.empty() || !given.password_command.empty();
  options.tls = given.tls;
  options.sentinel_tls = given.sentinel_tls;
  options.plain_sentinels = given.plain_sentinels;
  options.connect_timeout = given.connect_timeout;
  options.response_timeout = given.response_timeout;
  options.failover = given.failover;
  return options;
}

}  // namespace holdfast::cli
