// The options of one kind, for tests that try several kinds in the same way.
#pragma once

#include <holdfast/options.hpp>

namespace holdfast::support {

// Those of another kind that say the same as a mutex's. Options that the kind does not have are
// left out.
template <typename Options>
Options options_for(const mutex_options& like) {
  Options known;
  known.lease = like.lease;
  if constexpr (requires { known.renewal; }) known.renewal = like.renewal;
  if constexpr (requires { known.fencing; }) known.fencing = like.fencing;
  if constexpr (requires { known.fair; }) known.fair = like.fair;
  if constexpr (requires { known.retain; }) known.retain = like.retain;
  if constexpr (requires { known.queue_limit; }) known.queue_limit = like.queue_limit;
  if constexpr (requires { known.lock_delay; }) known.lock_delay = like.lock_delay;
  if constexpr (requires { known.reentry; }) known.reentry = like.reentry;
  return known;
}

}  // namespace holdfast::support
