// A thread that blocks until it has a lock.
#pragma once

#include <stop_token>

#include "runtime/lock_source.hpp"

namespace holdfast::runtime {

class local_lock;

acquired acquire_blocking(local_lock& local, leasing::patience patience, std::stop_token stop);

}  // namespace holdfast::runtime
