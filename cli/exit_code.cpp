#include "cli/exit_code.hpp"

#include <algorithm>
#include <iterator>

namespace holdfast::cli {
namespace {

struct meaning {
  errc reason;
  exit_code code;
};

constexpr meaning meanings[] = {
    {errc::busy, no_lock},
    {errc::timed_out, no_lock},
    {errc::cancelled, no_lock},
    {errc::lost, lost_while_running},
    {errc::unavailable, no_server},
    {errc::authentication, no_permission},
    {errc::permission_denied, no_permission},
    {errc::not_redis, no_server},
    {errc::foreign_key, foreign_data},
    {errc::layout_version, foreign_data},
    {errc::out_of_memory, no_server},
    {errc::read_only, no_server},
    {errc::loading, no_server},
    {errc::server_busy, no_server},
    {errc::misconfigured, no_server},
    {errc::no_replicas, no_server},
    {errc::clock_skew, no_server},
    {errc::server_error, no_server},
    {errc::invalid_name, usage},
    {errc::invalid_argument, usage},
    {errc::invalid_url, bad_configuration},
    {errc::unsupported, bad_configuration},
    {errc::forked, internal},
    {errc::would_deadlock, internal},
    {errc::embedded_server, no_server},
    {errc::queue_full, no_lock},
    {errc::untrusted_server, no_server},
    {errc::has_run, has_run},
};

}  // namespace

exit_code exit_code_for(errc reason) noexcept {
  const auto* const known = std::ranges::find(meanings, reason, &meaning::reason);
  return known == std::end(meanings) ? internal : known->code;
}

}  // namespace holdfast::cli
