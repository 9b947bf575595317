#include "redis/connection/url.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/number.hpp"
#include "base/printable.hpp"

namespace holdfast::redis {
namespace {

failure invalid(const std::string& why) { return failure{errc::invalid_url, why}; }

constexpr std::string_view expected =
    "; expected redis://[user:password@]host[:port][/db], rediss:// for the same over TLS, "
    "redis+sentinel://[user:password@]host[:port],.../service[/db], "
    "redis+cluster://[user:password@]host[:port],..., both with rediss as well, "
    "unix://[user:password@]/path[?db=N], each with ?protocol=2 for RESP2, embedded: or "
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

result<void> parse_database(std::string_view text, server_url& into) {
  const auto parsed = parse_number<int>(text);
  if (!parsed || *parsed < 0) {
    return invalid("the database must be a number of 0 or more");
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

// RFC 6874: "fe80::1%25eth0". Before it people wrote "fe80::1%eth0", and many do so still.
std::string with_plain_zone(std::string_view address) {
  const auto zone = address.find("%25");
  const bool is_escaped = zone != address.npos && zone + 3 < address.size();
  const auto decoded = is_escaped ? percent_decoded(address.substr(zone)) : std::nullopt;
  if (!decoded) return std::string(address);
  return std::string(address.substr(0, zone)) + *decoded;
}

// `into` comes with the usual port.
result<void> parse_host(std::string_view text, net::tcp_endpoint& into) {
  std::string_view port;
  bool has_port = false;
  if (take_prefix(text, "[")) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return invalid("the IPv6 address has no closing ']'");
    into.host = with_plain_zone(text.substr(0, close));
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
  for (const unsigned char c : into.host) {
    if (c <= ' ' || c == 0x7f) return invalid("the host name contains a space or control byte");
  }
  if (!has_port) return {};
  const auto parsed = parse_number<std::uint16_t>(port);
  if (!parsed || *parsed == 0) return invalid("the port must be a number from 1 to 65535");
  into.port = *parsed;
  return {};
}

// Other libraries write many things there. A value may be a password, so it is not shown.
failure unknown_parameter(std::string_view name, bool has_database) {
  const bool is_name = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  });
  return invalid((is_name ? "the address has the parameter '" + std::string(name) + "', which"
                          : std::string("the text after the '?' of the address")) +
                 " is not known: there is ?protocol=2 (for proxies without RESP3)" +
                 (has_database ? " and ?db=N" : "") +
                 "; user and password stand before the server, user:password@host, and all else, "
                 "such as TLS, is an option of the client");
}

result<void> read_parameter(std::string_view text, bool has_database, server_url& into) {
  const auto equals = text.find('=');
  const auto name = equals == text.npos ? std::string_view{} : text.substr(0, equals);
  const auto value = text.substr(equals + 1);
  if (has_database && name == "db") return parse_database(value, into);
  if (name != "protocol") return unknown_parameter(name, has_database);
  if (value != "2" && value != "3") return invalid("the parameter 'protocol' must be 2 or 3");
  into.login.old_protocol = value == "2";
  return {};
}

// NAME=VALUE&NAME=VALUE behind a '?'. Before anything else is looked at, so that none of it is
// taken for a port or a name.
result<void> take_parameters(std::string_view& text, bool has_database, server_url& into) {
  const bool is_path = has_database;  // in which '#' is a letter like others
  const auto begin = text.find_first_of(is_path ? "?" : "?#");
  if (begin == text.npos) return {};
  auto rest = text.substr(begin + 1);
  if (text[begin] == '#' || (!is_path && rest.find('#') != rest.npos)) {
    return invalid("no '#' may follow the server's address; in a password it is written %23");
  }
  text = text.substr(0, begin);
  for (bool more = true; more;) {
    const auto end = rest.find('&');
    if (auto ok = read_parameter(rest.substr(0, end), has_database, into); !ok) return ok;
    more = end != rest.npos;
    if (more) rest.remove_prefix(end + 1);
  }
  return {};
}

std::string shown_parameters(const server_url& url, bool has_database) {
  std::string all;
  if (has_database && url.database != 0) all = "?db=" + std::to_string(url.database);
  if (url.login.old_protocol) all += (all.empty() ? "?" : "&") + std::string("protocol=2");
  return all;
}

// The last '@' ends the login: a password may contain an unescaped one, a host may not.
result<void> take_login(std::string_view& text, server_url& into) {
  const auto at = text.rfind('@');
  if (at == std::string_view::npos) return {};
  const auto login = text.substr(0, at);
  text.remove_prefix(at + 1);
  return parse_login(login, into);
}

result<server_url> parse_tcp(std::string_view text, bool tls) {
  server_url url;
  url.tls = tls;
  if (auto ok = take_login(text, url); !ok) return ok.error();
  if (auto ok = take_parameters(text, false, url); !ok) return ok.error();
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const auto database = text.substr(slash + 1);
    if (auto ok = database.empty() ? result<void>{} : parse_database(database, url); !ok) {
      return ok.error();
    }
    text = text.substr(0, slash);
  }
  net::tcp_endpoint where{{}, 6379};
  if (auto ok = parse_host(text, where); !ok) return ok.error();
  url.shown = (tls ? "rediss://" : "redis://") + net::to_string(net::endpoint{where}) +
              (url.database != 0 ? "/" + std::to_string(url.database) : "") +
              shown_parameters(url, false);
  url.where = std::move(where);
  return url;
}

// host[:port],host[:port],...
template <typename Endpoint>
result<void> parse_hosts(std::string_view text, std::uint16_t usual_port,
                         std::vector<Endpoint>& into) {
  for (bool more = true; more;) {
    const auto comma = text.find(',');
    net::tcp_endpoint where{{}, usual_port};
    if (auto ok = parse_host(text.substr(0, comma), where); !ok) return ok.error();
    into.emplace_back(std::move(where));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return {};
}

template <typename Endpoint>
std::string shown(const std::vector<Endpoint>& all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : ",") + net::to_string(one);
  return text;
}

std::string shown(const sentinel_group& group, bool tls, int database) {
  return (tls ? "rediss+sentinel://" : "redis+sentinel://") + shown(group.members) + "/" +
         printable(group.service) + (database != 0 ? "/" + std::to_string(database) : "");
}

result<server_url> parse_sentinel(std::string_view text, bool tls) {
  server_url url;
  url.tls = tls;
  auto& group = url.sentinels.emplace();
  if (auto ok = take_login(text, url); !ok) return ok.error();
  if (auto ok = take_parameters(text, false, url); !ok) return ok.error();
  const auto slash = text.find('/');
  const auto path = slash == std::string_view::npos ? std::string_view{} : text.substr(slash + 1);
  const auto second = path.find('/');
  const auto service = percent_decoded(path.substr(0, second));
  if (!service) return invalid("the service name has a '%' that is not followed by two hex digits");
  if (service->empty()) return invalid("the service name is missing: .../service");
  group.service = *service;
  if (second != std::string_view::npos && second + 1 < path.size()) {
    if (auto ok = parse_database(path.substr(second + 1), url); !ok) return ok.error();
  }
  if (auto ok = parse_hosts(text.substr(0, slash), 26379, group.members); !ok) return ok.error();
  url.shown = shown(group, tls, url.database) + shown_parameters(url, false);
  return url;
}

// A cluster has one database.
result<server_url> parse_cluster(std::string_view text, bool tls) {
  server_url url;
  url.tls = tls;
  if (auto ok = take_login(text, url); !ok) return ok.error();
  if (auto ok = take_parameters(text, false, url); !ok) return ok.error();
  if (text.ends_with('/')) text.remove_suffix(1);
  if (text.find('/') != std::string_view::npos) {
    return invalid("a cluster has no numbered databases: nothing may follow its nodes");
  }
  if (auto ok = parse_hosts(text, 6379, url.cluster_nodes); !ok) return ok.error();
  url.shown = (tls ? "rediss+cluster://" : "redis+cluster://") + shown(url.cluster_nodes) +
              shown_parameters(url, false);
  return url;
}

result<server_url> parse_unix(std::string_view text) {
  server_url url;
  if (const auto at = text.find("@/"); !text.starts_with('/') && at != text.npos) {
    if (auto ok = parse_login(text.substr(0, at), url); !ok) return ok.error();
    text.remove_prefix(at + 1);
  }
  if (auto ok = take_parameters(text, true, url); !ok) return ok.error();
  const auto path = percent_decoded(text);
  if (!path) return invalid("the path has a '%' that is not followed by two hex digits");
  if (!path->starts_with('/')) return invalid("the socket path must start with '/'");
  url.shown = "unix://" + *path + shown_parameters(url, true);
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
  if (take_scheme(text, "redis://") || take_scheme(text, "valkey://")) {
    return parse_tcp(text, false);
  }
  if (take_scheme(text, "rediss://") || take_scheme(text, "valkeys://")) {
    return parse_tcp(text, true);
  }
  if (take_scheme(text, "redis+sentinel://") || take_scheme(text, "valkey+sentinel://")) {
    return parse_sentinel(text, false);
  }
  if (take_scheme(text, "rediss+sentinel://") || take_scheme(text, "valkeys+sentinel://")) {
    return parse_sentinel(text, true);
  }
  if (take_scheme(text, "redis+cluster://") || take_scheme(text, "valkey+cluster://")) {
    return parse_cluster(text, false);
  }
  if (take_scheme(text, "rediss+cluster://") || take_scheme(text, "valkeys+cluster://")) {
    return parse_cluster(text, true);
  }
  if (take_scheme(text, "unix://")) return parse_unix(text);
  if (take_scheme(text, "embedded:")) return parse_embedded(text);
  if (text.empty()) return invalid("the server address is empty" + std::string(expected));
  return invalid("the server address does not start with a known scheme" + std::string(expected));
}

}  // namespace holdfast::redis
