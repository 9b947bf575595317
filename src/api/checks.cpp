#include "api/checks.hpp"

#include <string>

#include <holdfast/errc.hpp>

namespace holdfast::api {
namespace {

using std::chrono::milliseconds;

void require(bool good, const char* what, const char* range) {
  if (!good) throw failure{errc::invalid_argument, std::string(what) + " must be " + range};
}

void check_network_timeout(milliseconds timeout, const char* what) {
  require(timeout >= milliseconds{1} && timeout <= std::chrono::minutes{10}, what,
          "1 ms to 10 min");
}

}  // namespace

void check_lease(milliseconds lease, const char* what) {
  require(lease >= milliseconds{10} && lease <= std::chrono::hours{24}, what, "10 ms to 24 h");
}

void check_options(const client_options& options) {
  check_network_timeout(options.connect_timeout, "connect_timeout");
  check_network_timeout(options.response_timeout, "response_timeout");
  check_lease(options.default_lease, "default_lease");
  check_timeout(options.default_timeout);
  require(options.spin >= std::chrono::microseconds{0} && options.spin <= std::chrono::seconds{1},
          "spin", "0 to 1 s");
  require(options.name.size() <= 256, "name", "at most 256 bytes long");
}

void check_retain(const lock_options& options) {
  require(options.retain >= milliseconds{0} && options.retain <= std::chrono::hours{1}, "retain",
          "0 to 1 h");
  const bool can_be_kept = !options.fair && options.renewal == renewal::automatic;
  require(options.retain == milliseconds{0} || can_be_kept, "retain",
          "0 with fair or renewal::none: such a lock goes back at every release");
}

void check_lock_delay(milliseconds delay) {
  require(delay >= milliseconds{0} && delay <= std::chrono::hours{1}, "lock_delay", "0 to 1 h");
}

void check_timeout(milliseconds timeout) {
  require(timeout >= milliseconds{0}, "timeout", "0 or more");
}

}  // namespace holdfast::api
