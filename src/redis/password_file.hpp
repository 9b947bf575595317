// Passwords that stand in files.
#pragma once

#include <optional>
#include <string>

namespace holdfast::redis {

// The first line without its end; nothing when the file cannot be read or that line is empty.
std::optional<std::string> first_line(const std::string& path);

}  // namespace holdfast::redis
