#include "cli/exit_code.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::cli {
namespace {

struct meaning {
  errc reason;
  const char* name;
  exit_code code;
};

constexpr meaning meanings[] = {
    {errc::busy, "busy", no_lock},
    {errc::timed_out, "timed_out", no_lock},
    {errc::cancelled, "cancelled", no_lock},
    {errc::lost, "lost", lost_while_running},
    {errc::unavailable, "unavailable", no_server},
    {errc::authentication, "authentication", no_permission},
    {errc::permission_denied, "permission_denied", no_permission},
    {errc::not_redis, "not_redis", no_server},
    {errc::foreign_key, "foreign_key", foreign_data},
    {errc::layout_version, "layout_version", foreign_data},
    {errc::out_of_memory, "out_of_memory", no_server},
    {errc::read_only, "read_only", no_server},
    {errc::loading, "loading", no_server},
    {errc::server_busy, "server_busy", no_server},
    {errc::misconfigured, "misconfigured", no_server},
    {errc::no_replicas, "no_replicas", no_server},
    {errc::clock_skew, "clock_skew", no_server},
    {errc::server_error, "server_error", no_server},
    {errc::invalid_name, "invalid_name", usage},
    {errc::invalid_argument, "invalid_argument", usage},
    {errc::invalid_url, "invalid_url", bad_configuration},
    {errc::unsupported, "unsupported", bad_configuration},
    {errc::forked, "forked", internal},
    {errc::would_deadlock, "would_deadlock", internal},
    {errc::embedded_server, "embedded_server", no_server},
    {errc::queue_full, "queue_full", no_lock},
    {errc::untrusted_server, "untrusted_server", no_server},
};

const meaning* find(errc reason) noexcept {
  const auto* const found = std::ranges::find(meanings, reason, &meaning::reason);
  return found == std::end(meanings) ? nullptr : found;
}

}  // namespace

exit_code exit_code_for(errc reason) noexcept {
  const auto* const known = find(reason);
  return known == nullptr ? internal : known->code;
}

const char* name_of(errc reason) noexcept {
  const auto* const known = find(reason);
  return known == nullptr ? "unknown" : known->name;
}

}  // namespace holdfast::cli
