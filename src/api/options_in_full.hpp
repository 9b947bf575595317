// The options of every kind in one form.
#pragma once

#include <holdfast/options.hpp>

namespace holdfast::api {

// The options of some kind as those of a mutex, which has all that there are. Options that the kind
// does not have keep their defaults.
template <typename Options>
mutex_options in_full(const Options& known) {
  mutex_options all{.lease = known.lease};
  if constexpr (requires { known.renewal; }) all.renewal = known.renewal;
  if constexpr (requires { known.fencing; }) all.fencing = known.fencing;
  if constexpr (requires { known.fair; }) all.fair = known.fair;
  if constexpr (requires { known.retain; }) all.retain = known.retain;
  if constexpr (requires { known.queue_limit; }) all.queue_limit = known.queue_limit;
  if constexpr (requires { known.lock_delay; }) all.lock_delay = known.lock_delay;
  if constexpr (requires { known.reentry; }) all.reentry = known.reentry;
  return all;
}

}  // namespace holdfast::api
