/// \file
/// What fenced writes to Redis return.
#pragma once

#include <optional>
#include <string>

#include <holdfast/fence_gate.hpp>

namespace holdfast {

/// Whether a script was let through, and what it returned. Thread safety: a value type.
struct [[nodiscard]] fenced_reply : fence_verdict {
  /// A number as decimal text, a text as it is, a table as JSON; unset for nil and when stale.
  std::optional<std::string> value;
};

}  // namespace holdfast
