// Waiting for a moment, or for being called off.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "base/uncancelled.hpp"
#include "net/clock.hpp"

namespace holdfast::calls {

// False: stopped before.
inline bool wait_till(monotonic_time due, const std::stop_token& stop = {}) {
  const uncancelled meanwhile;
  std::mutex guard;
  std::condition_variable_any never;
  std::unique_lock lock(guard);
  for (auto now = net::now(); now < due; now = net::now()) {
    never.wait_for(lock, stop, due - now, [] { return false; });
    if (stop.stop_requested()) return net::now() >= due;
  }
  return true;
}

}  // namespace holdfast::calls
