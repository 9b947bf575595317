// The figures of a connection: when its threads spin, sleep, hand the reading over, and ping.
#pragma once

#include <cstddef>

#include "base/time.hpp"

namespace holdfast::redis {

// The figures behind these are in bench/README.md.
struct connection_tuning {
  microseconds spin{50};  // the only thread that waits looks this long before it sleeps
  std::size_t crowd = 4;  // from this many commands in flight the background thread reads
  std::size_t crowd_on_one_core = 24;  // the same while the server has the core that we have
  std::size_t calm = 16;  // after so many batches of answers without a crowd, callers read again
  microseconds background_spin{20};  // how long that one looks before it sleeps
  microseconds push_spin{300};       // how long either looks for a push that is expected
  microseconds grace{1000};          // replies that nobody waits for may lie this long
  microseconds patience{10'000};     // and these, when it is known that nobody does; and what a
                                     // coroutine asks for, while its thread computes
  milliseconds ping_after{15'000};   // of silence
};

}  // namespace holdfast::redis
