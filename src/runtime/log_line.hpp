// The line for an event in the log of a service.
#pragma once

#include <optional>
#include <string>

#include <holdfast/observer.hpp>

namespace holdfast::runtime {

struct log_line {
  log_level level;
  std::string text;
};

// Nothing: it is ordinary.
std::optional<log_line> line_of(const event& what);

}  // namespace holdfast::runtime
