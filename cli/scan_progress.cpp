#include "cli/scan_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t bar_width = 30;
constexpr const char* wipe = "\r\x1b[K";

}  // namespace

scan_progress::scan_progress(const context& shared)
    : is_wanted_(!shared.json && ::isatty(STDERR_FILENO) != 0), next_(clock::now() + 500ms) {}

scan_progress::~scan_progress() {
  if (is_shown_) std::fputs(wipe, stderr);
}

void scan_progress::show(std::size_t scanned, std::size_t keys) {
  if (!is_wanted_ || clock::now() < next_) return;
  next_ = clock::now() + 100ms;
  is_shown_ = true;
  // Keys may come while they are looked at.
  const auto part = std::min(bar_width, scanned * bar_width / std::max<std::size_t>(keys, 1));
  const auto line = fmt::format("{}[{:<{}}] {} of {} keys", wipe, std::string(part, '#'), bar_width,
                                scanned, keys);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace holdfast::cli
