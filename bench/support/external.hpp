// Other programs that are measured beside us.
#pragma once

#include <string>
#include <vector>

namespace holdfast::bench {

// Runs a program found in PATH and returns what it printed; throws unless it ended with 0, and when
// it has not after five minutes.
std::string output_of(const std::vector<std::string>& words);

bool is_installed(const std::string& program);

// Requests a second of redis-benchmark with 64 connections that pipeline 16 each. The word
// __rand_int__ becomes a random number of 12 digits below `range`.
double redis_benchmark(int port, long requests, long range,
                       const std::vector<std::string>& command);

}  // namespace holdfast::bench
