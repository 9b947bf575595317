// In the place of net/openssl/ when Holdfast is built without TLS.
#include <string>

#include "net/tls.hpp"

namespace holdfast::net {

std::optional<tls_problem> check_tls(const tls_options&, tls_peer peer) {
  const std::string what = peer == tls_peer::sentinel_apart ? "sentinel_tls" : "rediss://";
  return tls_problem{errc::unsupported,
                     "this Holdfast was built without TLS (HOLDFAST_WITH_TLS=OFF), so that " +
                         what +
                         " cannot be used; build it with TLS, or use redis:// through a tunnel"};
}

std::optional<tls_problem> open_tls(const tls_options& options, const std::string&,
                                    const descriptor&, const connect_limits&,
                                    std::unique_ptr<tls_session>&, tls_peer peer) {
  return check_tls(options, peer);
}

}  // namespace holdfast::net
