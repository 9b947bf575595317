#include "support/pairs.hpp"

#include <utility>

#include "base/lock_key.hpp"
#include "redis/dialects/catalog.hpp"

namespace holdfast::bench {

contestant pairs_of(lock target, nanoseconds length) {
  return [target = std::move(target), length] {
    return run_slice(1, length, [&](int) { target.acquire().release().value(); });
  };
}

contestant scopes_of(lock target, nanoseconds length) {
  return [target = std::move(target), length] {
    return run_slice(1, length, [&](int) { const auto held = target.acquire(); });
  };
}

contestant pairs_of(raw_client& socket, nanoseconds length) {
  return [&socket, length, key = lock_key("bench")] {
    const auto& recipe = dialects::native_mutex(fencing::on);
    return run_slice(1, length, [&](int) { socket.pair(recipe, key); });
  };
}

}  // namespace holdfast::bench
