#include "redis/url.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace holdfast::redis {
namespace {

failure invalid(const std::string& why) { return failure{errc::invalid_url, why}; }

constexpr std::string_view expected =
    "; expected redis://[user:password@]host[:port][/db], unix:///path[?db=N], embedded: or "
    "embedded:/directory";

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// RFC 3986: schemes are written in any case. `scheme` is in lower case.
bool take_scheme(std::string_view& text, std::string_view scheme) {
  const auto same = [](char wanted, char given) {
    return wanted == (given >= 'A' && given <= 'Z' ? given - 'A' + 'a' : given);
  };
  const auto head = text.substr(0, scheme.size());
  if (!std::equal(scheme.begin(), scheme.end(), head.begin(), head.end(), same)) return false;
  text.remove_prefix(scheme.size());
  return true;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// RFC 3986 percent-decoding; nothing when an escape is broken or hides a NUL.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

result<void> parse_database(std::string_view text, server_url& into) {
  const auto parsed = number<int>(text);
  if (!parsed || *parsed < 0) {
    return invalid("the database after the host must be a number of 0 or more");
  }
  into.database = *parsed;
  return {};
}

result<void> parse_login(std::string_view text, server_url& into) {
  const auto colon = text.find(':');
  const auto user = percent_decoded(text.substr(0, colon));
  const auto password = percent_decoded(colon == std::string_view::npos ? std::string_view{}
                                                                        : text.substr(colon + 1));
  if (!user || !password) {
    return invalid("the user name or password has a '%' that is not followed by two hex digits");
  }
  into.login = {*user, *password};
  return {};
}

result<void> parse_host(std::string_view text, net::tcp_endpoint& into) {
  into.port = 6379;
  std::string_view port;
  bool has_port = false;
  if (take_prefix(text, "[")) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return invalid("the IPv6 address has no closing ']'");
    into.host = text.substr(0, close);
    auto rest = text.substr(close + 1);
    has_port = take_prefix(rest, ":");
    if (!has_port && !rest.empty()) return invalid("only ':port' may follow the ']'");
    port = rest;
  } else {
    const auto colon = text.find(':');
    has_port = colon != std::string_view::npos;
    into.host = text.substr(0, colon);
    if (has_port) port = text.substr(colon + 1);
  }
  if (into.host.empty()) return invalid("the host name is missing");
  for (const char c : into.host) {
    if (c <= ' ' || c == 0x7f) return invalid("the host name contains a space or control byte");
  }
  if (!has_port) return {};
  const auto parsed = number<std::uint16_t>(port);
  if (!parsed || *parsed == 0) return invalid("the port must be a number from 1 to 65535");
  into.port = *parsed;
  return {};
}

result<server_url> parse_tcp(std::string_view text) {
  server_url url;
  // The last '@' ends the login: a password may contain an unescaped one, a host may not.
  if (const auto at = text.rfind('@'); at != std::string_view::npos) {
    if (auto ok = parse_login(text.substr(0, at), url); !ok) return ok.error();
    text.remove_prefix(at + 1);
  }
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const auto database = text.substr(slash + 1);
    if (auto ok = database.empty() ? result<void>{} : parse_database(database, url); !ok) {
      return ok.error();
    }
    text = text.substr(0, slash);
  }
  net::tcp_endpoint where;
  if (auto ok = parse_host(text, where); !ok) return ok.error();
  url.shown = "redis://" + net::to_string(net::endpoint{where}) +
              (url.database != 0 ? "/" + std::to_string(url.database) : "");
  url.where = std::move(where);
  return url;
}

result<server_url> parse_unix(std::string_view text) {
  server_url url;
  if (const auto query = text.find('?'); query != std::string_view::npos) {
    auto option = text.substr(query + 1);
    if (!take_prefix(option, "db=")) return invalid("only ?db=N may follow the socket path");
    if (auto ok = parse_database(option, url); !ok) return ok.error();
    text = text.substr(0, query);
  }
  const auto path = percent_decoded(text);
  if (!path) return invalid("the path has a '%' that is not followed by two hex digits");
  if (!path->starts_with('/')) return invalid("the socket path must start with '/'");
  url.shown = "unix://" + *path + (url.database != 0 ? "?db=" + std::to_string(url.database) : "");
  url.where = net::unix_endpoint{*path};
  return url;
}

result<server_url> parse_embedded(std::string_view text) {
  server_url url;
  url.shown = "embedded:" + std::string(text);
  url.what = server_url::kind::embedded_private;
  if (text.empty()) return url;
  if (!text.starts_with('/')) return invalid("the directory after 'embedded:' must start with '/'");
  url.what = server_url::kind::embedded_shared;
  url.directory = text;
  return url;
}

}  // namespace

result<server_url> parse_url(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return invalid("the address contains a NUL byte");
  if (take_scheme(text, "redis://") || take_scheme(text, "valkey://")) return parse_tcp(text);
  if (take_scheme(text, "unix://")) return parse_unix(text);
  if (take_scheme(text, "embedded:")) return parse_embedded(text);
  if (take_scheme(text, "rediss://") || take_scheme(text, "valkeys://")) {
    return failure{errc::unsupported,
                   "TLS (rediss://) is not supported yet; use redis:// through a TLS tunnel"};
  }
  if (text.empty()) return invalid("the server address is empty" + std::string(expected));
  return invalid("the server address does not start with a known scheme" + std::string(expected));
}

}  // namespace holdfast::redis
