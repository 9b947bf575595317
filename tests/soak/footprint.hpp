// What this process has of the machine, sampled while it works.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace holdfast::soak {

struct footprint {
  std::size_t heap = 0;      // bytes that are allocated
  std::size_t resident = 0;  // bytes
  std::size_t descriptors = 0;
  std::size_t threads = 0;
};

footprint measure();

// What grows in a run: the least that was seen in its last quarter, beside the least in its second.
// What is there for a moment only is in neither, and in the first quarter all becomes as large as
// it will be. Empty: nothing, or too few samples.
std::string growth(const std::vector<footprint>& samples);

}  // namespace holdfast::soak
