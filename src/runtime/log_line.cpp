#include "runtime/log_line.hpp"

#include <chrono>

#include "base/printable.hpp"
#include "base/time.hpp"

namespace holdfast::runtime {
namespace {

std::string name_in(const event& what) { return "the lock '" + printable(what.name) + "'"; }

std::string shown(nanoseconds time) {
  return std::to_string(std::chrono::round<milliseconds>(time).count()) + " ms";
}

std::string failed_login(const event& what) {
  const auto why = without_control_bytes(what.detail);
  if (what.server.empty()) return why;
  return "a login was refused by " + printable(what.server) + ": " + why;
}

}  // namespace

std::optional<log_line> line_of(const event& what) {
  switch (what.type) {
    case event_type::asked:
    case event_type::granted:
    case event_type::refused:
      break;
    case event_type::renewed_late:
      return log_line{log_level::warning, name_in(what) + " was renewed " + shown(what.duration) +
                                              " late: the server or the network is slow"};
    case event_type::lost:
      return log_line{log_level::warning,
                      name_in(what) + " was lost after " + shown(what.duration)};
    case event_type::released:
      if (!what.error) break;
      return log_line{log_level::warning,
                      "the release of " + name_in(what) +
                          " was not confirmed: " + make_error_code(*what.error).message()};
    case event_type::reconnected:
      return log_line{log_level::info, "connected again, to " + printable(what.server)};
    case event_type::failed_over:
      return log_line{log_level::warning, "another server answers at " + printable(what.server) +
                                              ", and is asked about all leases"};
    case event_type::login_failed:
      return log_line{log_level::warning, failed_login(what)};
  }
  return std::nullopt;
}

}  // namespace holdfast::runtime
