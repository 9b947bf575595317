// Waiting for what happens elsewhere, without guessing how long it takes.
#pragma once

#include <poll.h>

#include <algorithm>

#include "base/time.hpp"
#include "net/clock.hpp"

namespace holdfast::support {

// Far more than anything here takes, also on a loaded machine under a sanitizer.
inline constexpr milliseconds generous{20'000};

// Asks again and again until the condition holds; false when it did not within the bound.
template <typename Condition>
[[nodiscard]] bool eventually(Condition&& condition, milliseconds bound = generous) {
  const auto deadline = net::now() + bound;
  for (int pause_ms = 1; !condition(); pause_ms = std::min(2 * pause_ms, 20)) {
    if (net::now() >= deadline) return false;
    ::poll(nullptr, 0, pause_ms);
  }
  return true;
}

}  // namespace holdfast::support
