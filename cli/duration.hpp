// Durations as people write them: 500ms, 10s, 2m, 1h, 1.5s.
#pragma once

#include <CLI/CLI.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

// Nothing for a text that is no duration: no unit, negative, finer than 1 ms. More than ten years
// are ten years.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// The two greatest units that matter: "2h 5m", "12.3s", "450ms".
std::string show_duration(std::chrono::milliseconds duration);

struct duration_range {
  std::chrono::milliseconds least;
  std::chrono::milliseconds most;
};

// An option that takes a duration. Others than those in the range are refused, with the reason.
CLI::Option* add_duration(CLI::App& command, const std::string& name,
                          std::chrono::milliseconds& into, const std::string& description,
                          duration_range range);

}  // namespace holdfast::cli
