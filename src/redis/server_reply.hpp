// Answers to commands that every connection knows.
#pragma once

#include <optional>

#include "base/time.hpp"
#include "resp/value.hpp"

namespace holdfast::redis {

// The answer to TIME; nothing when it is not one.
std::optional<server_time> read_time(const resp::value& reply);

}  // namespace holdfast::redis
