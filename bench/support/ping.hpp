// The time of a round trip, to compare with.
#pragma once

#include "support/setting.hpp"

namespace holdfast::bench {

// Microseconds of a PING over a blocking socket that does not spin, with the server on another
// core: left alone, the two share one and never wake a processor, which no hand-over between
// processes that are all at work can do.
double ping_p50(const setting& with);

}  // namespace holdfast::bench
