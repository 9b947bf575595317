// Passwords that stand in files.
#pragma once

#include <optional>
#include <string>

namespace holdfast::redis {

// The first line without its end; nothing when it is empty, or when this is no regular file that
// can be read.
std::optional<std::string> first_line(const std::string& path);

}  // namespace holdfast::redis
