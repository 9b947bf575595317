#include "cli/connection.hpp"

#include <cstdlib>
#include <fstream>
#include <string_view>

#include "cli/complaint.hpp"

namespace holdfast::cli {
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string{value};
}

// True for "scheme://user:password@...".
bool has_password(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return false;
  const auto login = url.substr(scheme + 3, url.rfind('@') - scheme - 3);
  const auto colon = login.find(':');
  return url.rfind('@') != std::string_view::npos && colon != std::string_view::npos &&
         colon + 1 < login.size();
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || line.empty()) {
    throw complaint{bad_configuration, "password_file",
                    "the password file cannot be read or its first line is empty"};
  }
  if (line.back() == '\r') line.pop_back();
  return line;
}

}  // namespace

client_options connection_options::for_client() const {
  client_options options;
  options.name = "holdfast";
  options.username = username;
  options.password = password;
  options.connect_timeout = connect_timeout;
  options.response_timeout = response_timeout;
  return options;
}

client connection_options::connect() const { return client{url, for_client()}; }

connection_options resolve(const connection_arguments& given) {
  if (has_password(given.url)) {
    throw complaint{usage, "usage",
                    "--url contains a password, which every user of this machine could read; use "
                    "HOLDFAST_URL, HOLDFAST_PASSWORD or --password-file"};
  }
  connection_options options;
  const auto url = given.url.empty() ? environment("HOLDFAST_URL") : given.url;
  options.url_given = !url.empty();
  if (options.url_given) options.url = url;
  options.username = given.username.empty() ? environment("HOLDFAST_USER") : given.username;
  options.password = given.password_file.empty() ? environment("HOLDFAST_PASSWORD")
                                                 : first_line(given.password_file);
  options.connect_timeout = given.connect_timeout;
  options.response_timeout = given.response_timeout;
  return options;
}

}  // namespace holdfast::cli
