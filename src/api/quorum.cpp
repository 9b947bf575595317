#include <holdfast/quorum.hpp>

#include <utility>

#include "api/checks.hpp"
#include "api/native_locks.hpp"
#include "api/options_in_full.hpp"
#include "api/quorum_members.hpp"
#include "redis/locks/foreign_place.hpp"
#include "redis/locks/quorum_source.hpp"
#include "runtime/lock_access.hpp"
#include "runtime/lock_spec.hpp"

namespace holdfast {
namespace {

// Of a lock in another library's way.
void check_votes(const quorum_mutex_options& options, const dialect& how) {
  if (!detail::lock_access::recipe(how)->usual().votes) {
    throw failure{errc::unsupported, "a lock of the dialect " + std::string(how.name()) +
                                         " is not possible over a quorum: its library locks on "
                                         "one server; redlock is"};
  }
  api::check_foreign(api::in_full(options), how);
}

}  // namespace

quorum::quorum(std::vector<client> members, quorum_options options) {
  api::check_lease(options.longest_lease, "longest_lease");
  handle_ = std::make_shared<redis_locks::quorum_handle>(
      std::make_unique<redis_locks::quorum_group>(api::members_of(members), options.longest_lease));
}

lock quorum::mutex(std::string_view name, const quorum_mutex_options& options,
                   const dialect& how) const {
  const auto& group = handle_->group();
  group->home_client()->check_process();
  const auto& foreign = detail::lock_access::recipe(how);
  if (foreign) {
    check_votes(options, how);
    redis_locks::refuse_for_tenant(*group->home_client());
  }
  const auto usual = foreign ? foreign->usual().lease : std::nullopt;
  const auto lease =
      options.lease ? *options.lease : usual.value_or(group->home().options().default_lease);
  api::check_lease(lease, "lease");
  api::check_lock_delay(options.lock_delay);
  if (lease + options.lock_delay > group->longest_lease()) {
    throw failure{errc::invalid_argument,
                  "lease and lock_delay must not be more than quorum_options::longest_lease"};
  }
  redis_locks::quorum_spec spec{
      .group = group,
      .key = std::make_shared<const lock_key>(group->home().space(), name),
      .recipe = dialects::native_quorum(),
      .lease = lease,
      .delay = options.lock_delay,
      .renews = options.renewal == renewal::automatic,
      .refuses_reentry = options.reentry == reentry::refused};
  if (foreign) {
    spec.recipe = dialects::foreign_quorum(foreign);
    spec.asks_after = redis_locks::usage_of(*foreign).pauses;
  }
  return detail::lock_access::make(
      group->home_client(),
      std::make_shared<redis_locks::quorum_source>(
          handle_, std::make_shared<const redis_locks::quorum_spec>(std::move(spec))));
}

}  // namespace holdfast
