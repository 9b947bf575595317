// One thread that acquires and releases, again and again.
#pragma once

#include <holdfast/lock.hpp>

#include "support/measure.hpp"
#include "support/raw_client.hpp"

namespace holdfast::bench {

// Slices of this length of such pairs.
contestant pairs_of(lock target, nanoseconds length);

// The same, but that nobody waits for the release: the lease goes out of scope.
contestant scopes_of(lock target, nanoseconds length);

// The same with the bare mutex "bench"; the socket outlives it.
contestant pairs_of(raw_client& socket, nanoseconds length);

}  // namespace holdfast::bench
