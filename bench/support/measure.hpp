// Slices of work, timed.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "base/time.hpp"
#include "support/server.hpp"

namespace holdfast::bench {

// The result of one slice of pairs.
struct slice {
  double rate = 0;       // pairs a second
  double p50 = 0;        // microseconds a pair
  double p99 = 0;        // microseconds a pair
  double processor = 0;  // client microseconds a pair, all threads
  double pairs = 0;
  double server = 0;  // server microseconds a pair, where run_by_turns() knows the pairs
};

// Runs `pair` in `threads` threads for `length`. `pair` is called with the number of its thread.
slice run_slice(int threads, nanoseconds length, const std::function<void(int)>& pair);

// The contestants by turns, `rounds` times, so that what else the machine does hits all alike;
// then the medians of each. All ask `redis`, or the servers whose processor time is given.
using contestant = std::function<slice()>;
std::vector<slice> run_by_turns(const server& redis, int rounds,
                                const std::vector<contestant>& all);
std::vector<slice> run_by_turns(const std::function<nanoseconds()>& server_time, int rounds,
                                const std::vector<contestant>& all);

double median(std::vector<double> values);
void wait_for(nanoseconds length);
nanoseconds own_processor_time();

}  // namespace holdfast::bench
