// Answers to commands that every connection knows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "redis/resp/value.hpp"

namespace holdfast::redis {

// The answer to TIME; nothing when it is not one.
std::optional<server_time> read_time(const resp::value& reply);

// A field of the answer to INFO ("name:value" lines); empty when it is not there.
std::string info_field(const std::string& info, std::string_view name);

// The setting that CONFIG GET was asked for; nothing when there is none, or we may not look.
std::optional<std::string> read_setting(const resp::value& reply);

}  // namespace holdfast::redis
