#include "cli/server_address.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "cli/complaint.hpp"
#include "cli/password_command.hpp"

namespace holdfast::cli {
namespace {

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      plain += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

void read_login(std::string_view login, server_address& into) {
  const auto colon = login.find(':');
  into.username = decoded(login.substr(0, colon));
  if (colon != std::string_view::npos) into.password = decoded(login.substr(colon + 1));
}

void read_tcp(std::string_view rest, server_address& into) {
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    read_login(rest.substr(0, at), into);
    rest.remove_prefix(at + 1);
  }
  rest = rest.substr(0, rest.find('?'));  // of it, hiredis needs nothing
  const auto slash = rest.find('/');
  if (slash != std::string_view::npos && slash + 1 < rest.size()) {
    into.database = rest.substr(slash + 1);
  }
  rest = rest.substr(0, slash);
  const auto colon = rest.rfind(':');
  if (colon != std::string_view::npos && rest.find(']', colon) == std::string_view::npos) {
    // NOLINTNEXTLINE(cert-err34-c): the library has accepted the same address before
    into.port = std::atoi(std::string(rest.substr(colon + 1)).c_str());
    rest = rest.substr(0, colon);
  }
  if (rest.starts_with('[')) rest = rest.substr(1, rest.size() - 2);  // an IPv6 address
  into.host = rest;
}

void read_unix(std::string_view rest, server_address& into) {
  if (const auto at = rest.find("@/"); !rest.starts_with('/') && at != std::string_view::npos) {
    read_login(rest.substr(0, at), into);
    rest.remove_prefix(at + 1);
  }
  const auto query = rest.substr(std::min(rest.find('?'), rest.size()));
  constexpr std::string_view db = "db=";
  if (const auto at = query.find(db); at != query.npos) {
    const auto value = query.substr(at + db.size());
    into.database = value.substr(0, value.find('&'));
  }
  into.socket = decoded(rest.substr(0, rest.size() - query.size()));
}

// In any case, as the library takes it. `beginning` is in lower case.
bool begins(std::string_view url, std::string_view beginning) {
  const auto same = [](unsigned char given, char wanted) { return std::tolower(given) == wanted; };
  return std::ranges::equal(url.substr(0, beginning.size()), beginning, same);
}

bool take_scheme(std::string_view& url, std::string_view scheme) {
  if (!begins(url, scheme)) return false;
  url.remove_prefix(scheme.size());
  return true;
}

}  // namespace

bool is_embedded(std::string_view url) { return begins(url, "embedded:"); }

bool is_in_memory(std::string_view url) { return begins(url, "memory:"); }

bool is_over_tls(std::string_view url) { return begins(url, "rediss") || begins(url, "valkeys"); }

bool has_sentinels(std::string_view url) {
  constexpr std::string_view end_of_scheme = "+sentinel://";
  const auto plus = std::min(url.find('+'), url.size());
  return plus < url.find(':') && begins(url.substr(plus), end_of_scheme);
}

server_address read_address(const connection_options& server) {
  server_address at;
  std::string_view url = server.url;
  if (take_scheme(url, "redis://") || take_scheme(url, "valkey://")) {
    read_tcp(url, at);
  } else if (take_scheme(url, "unix://")) {
    read_unix(url, at);
  } else if (take_scheme(url, "embedded:")) {
    at.socket = std::string(url) + "/server.sock";
  } else {
    throw complaint{bad_configuration, "invalid_url",
                    "this command needs a redis://, valkey://, unix:// or embedded: URL: it knows "
                    "no TLS, sentinels or clusters"};
  }
  const auto options = server.for_client(server.url);
  if (!options.username.empty()) at.username = options.username;
  if (!options.password.empty()) at.password = options.password;
  if (options.credentials) at.password = server.password_command->ask().password;
  return at;
}

}  // namespace holdfast::cli
