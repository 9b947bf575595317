// In the place of net/openssl/ when Holdfast is built without TLS.
#include "net/tls.hpp"

namespace holdfast::net {

std::optional<tls_problem> check_tls(const tls_options&) {
  return tls_problem{
      errc::unsupported,
      "this Holdfast was built without TLS (HOLDFAST_WITH_TLS=OFF), so that "
      "rediss:// cannot be used; build it with TLS, or use redis:// through a tunnel"};
}

std::optional<tls_problem> open_tls(const tls_options& options, const std::string&,
                                    const descriptor&, const connect_limits&,
                                    std::unique_ptr<tls_session>&) {
  return check_tls(options);
}

}  // namespace holdfast::net
