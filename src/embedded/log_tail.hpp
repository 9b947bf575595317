// The last lines of a server's log, for messages.
#pragma once

#include <filesystem>
#include <string>

namespace holdfast::embedded {

// `; its log ends: "line", "line"`: at most the last 6 lines that are not blank. Empty without any.
std::string log_tail(const std::filesystem::path& log);

}  // namespace holdfast::embedded
