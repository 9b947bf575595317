#include "soak/footprint.hpp"
#include "support/resident_memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <span>

namespace holdfast::soak {
namespace {

constexpr std::size_t mebibyte = 1024 * 1024;

std::size_t entries(const char* directory) {
  const std::filesystem::directory_iterator all(directory);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

struct limit {
  const char* what;
  std::size_t footprint::*field;
  std::size_t unit;
  std::size_t more;  // may come, in units
};

// A sanitizer keeps what was freed, and counts it as nobody's heap.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t resident_growth = 512;
#else
constexpr std::size_t resident_growth = 6;
#endif

constexpr limit limits[] = {
    {"MiB of heap", &footprint::heap, mebibyte, 1},
    {"MiB of memory", &footprint::resident, mebibyte, resident_growth},
    {"descriptors", &footprint::descriptors, 1, 12},  // a proxy of ours has two for a connection
    {"threads", &footprint::threads, 1, 4},
};

// Fewer say little: connections come and go.
constexpr std::size_t fewest_samples = 5;

std::size_t least(std::span<const footprint> of, std::size_t footprint::*field) {
  return (*std::ranges::min_element(of, {}, field)).*field;
}

}  // namespace

footprint measure() {
  const auto heap = ::mallinfo2();
  return {.heap = heap.uordblks + heap.hblkhd,
          .resident = support::resident_bytes(),
          .descriptors = entries("/proc/self/fd"),
          .threads = entries("/proc/self/task")};
}

std::string growth(const std::vector<footprint>& samples) {
  const std::size_t quarter = samples.size() / 4;
  if (quarter < fewest_samples) return {};
  const std::span all(samples);
  std::string grown;
  for (const auto& one : limits) {
    const auto before = least(all.subspan(quarter, quarter), one.field);
    const auto after = least(all.last(quarter), one.field);
    if (after <= before + one.more * one.unit) continue;
    grown += std::string(one.what) + " grew from " + std::to_string(before / one.unit) + " to " +
             std::to_string(after / one.unit) + "\n";
  }
  return grown;
}

}  // namespace holdfast::soak
