#include "net/tls_peer.hpp"

namespace holdfast::net {

std::string name_of(tls_peer peer, const std::string& option) {
  return (peer == tls_peer::sentinel_apart ? "sentinel_tls." : "tls.") + option;
}

std::string advice_to_set(tls_peer peer, const char* option, const char* argument) {
  const bool apart = peer == tls_peer::sentinel_apart;
  auto advice = name_of(peer, option) + (apart ? " (--sentinel-tls-" : " (--tls-") + argument + ")";
  if (peer != tls_peer::sentinel_as_server) return advice;
  // If a user sets there an option that only the sentinels need, the servers refuse the connection
  // next.
  return advice + ", or for the sentinels alone " +
         advice_to_set(tls_peer::sentinel_apart, option, argument);
}

const char* advice_to_speak_plain(tls_peer peer) noexcept {
  if (peer == tls_peer::server) return "write redis://";
  if (peer == tls_peer::sentinel_apart) {
    return "leave sentinel_tls (--sentinel-tls-...) out, for rediss+sentinel:// with "
           "insecure_plain_sentinels in its place";
  }
  return "write redis+sentinel://, or for the sentinels alone set insecure_plain_sentinels";
}

const char* advice_to_speak_tls(tls_peer peer) noexcept {
  if (peer == tls_peer::server) return "write rediss:// instead of redis://";
  if (peer == tls_peer::sentinel_apart) {
    return "leave insecure_plain_sentinels out";
  }
  return "write rediss+sentinel://, or for the sentinels alone set sentinel_tls "
         "(--sentinel-tls-ca)";
}

}  // namespace holdfast::net
