// A pause in what a test does to others. Nothing that is checked may depend on its length.
#pragma once

#include <poll.h>

#include "base/time.hpp"

namespace holdfast::support {

// A cancellation point.
inline void pause(milliseconds time) { ::poll(nullptr, 0, static_cast<int>(time.count())); }

}  // namespace holdfast::support
