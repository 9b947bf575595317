// The server of a program that was built without HTTP.
#include "cli/complaint.hpp"
#include "cli/http/server.hpp"

namespace holdfast::cli::http {

class server::daemon {};

server::server(listener, allowed_hosts, site&, const server_limits&) {
  throw complaint{bad_configuration, "unsupported",
                  "this program was built without HTTP, so it cannot listen: install it from a "
                  "package, or build it with libmicrohttpd (Debian: libmicrohttpd-dev)"};
}

server::~server() = default;

}  // namespace holdfast::cli::http
