// A thread that blocks until it has a lock.
#pragma once

#include <stop_token>

#include "runtime/lock_source.hpp"

namespace holdfast::runtime {

class lock_site;

acquired acquire_blocking(lock_site& site, leasing::patience patience, std::stop_token stop);

}  // namespace holdfast::runtime
