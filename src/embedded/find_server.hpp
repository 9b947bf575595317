// Where the server program is.
#pragma once

#include <filesystem>
#include <vector>

namespace holdfast::embedded {

// The folders of PATH, then those where packages put servers even when PATH lacks them.
std::vector<std::filesystem::path> program_folders();

// The absolute path of `wanted`; of redis-server or valkey-server when it is empty. A name without
// a slash is looked for in the folders. Throws failure{errc::embedded_server}.
std::filesystem::path find_server(const std::filesystem::path& wanted,
                                  const std::vector<std::filesystem::path>& folders);

}  // namespace holdfast::embedded
