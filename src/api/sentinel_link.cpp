#include "api/sentinel_link.hpp"

#include <holdfast/errc.hpp>

#include "net/tls.hpp"

namespace holdfast::api {
namespace {

void refuse_if(bool contradiction, const char* why) {
  if (contradiction) throw failure{errc::invalid_argument, why};
}

}  // namespace

void check_sentinel_link(const redis::server_url& url, const client_options& options) {
  const auto& own = options.sentinel_tls;
  const bool plain = options.insecure_plain_sentinels;
  refuse_if(own && !url.sentinels,
            "sentinel_tls is given, but the address names no sentinels: it is for "
            "redis+sentinel:// and rediss+sentinel://, tls for all servers with rediss://");
  refuse_if(
      own && plain,
      "sentinel_tls and insecure_plain_sentinels contradict each other: give one or the other");
  refuse_if(plain && !(url.sentinels && url.tls),
            "insecure_plain_sentinels is for rediss+sentinel:// alone: with other addresses it has "
            "no effect");
  if (!own) return;
  if (const auto wrong = net::check_tls(*own, net::tls_peer::sentinel_apart)) {
    throw failure{wrong->code, wrong->detail};
  }
}

void set_up_link(redis::sentinel_group& sentinels, const std::optional<tls_options>& servers,
                 const client_options& options) {
  sentinels.login = {options.sentinel_username, options.sentinel_password,
                     options.sentinel_password_file};
  const bool apart = options.sentinel_tls || options.insecure_plain_sentinels;
  sentinels.tls = apart ? options.sentinel_tls : servers;
  sentinels.peer = apart ? net::tls_peer::sentinel_apart : net::tls_peer::sentinel_as_server;
}

}  // namespace holdfast::api
