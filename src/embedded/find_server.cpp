#include "embedded/find_server.hpp"

#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <system_error>

#include <holdfast/errc.hpp>

#include "base/printable.hpp"

namespace holdfast::embedded {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

fs::path look_for(const fs::path& name, const std::vector<fs::path>& folders) {
  for (const auto& folder : folders) {
    if (is_program(folder / name)) return fs::absolute(folder / name);
  }
  return {};
}

constexpr const char* remedy =
    "install the package redis-server or valkey-server (sudo apt install redis-server)";

}  // namespace

std::vector<fs::path> program_folders() {
  std::vector<fs::path> folders;
  const char* path = std::getenv("PATH");
  std::istringstream entries(path != nullptr ? path : "");
  for (std::string entry; std::getline(entries, entry, ':');) {
    if (!entry.empty()) folders.emplace_back(entry);
  }
  for (const char* usual : {"/usr/bin", "/usr/local/bin", "/usr/sbin"}) folders.emplace_back(usual);
  return folders;
}

fs::path find_server(const fs::path& wanted, const std::vector<fs::path>& folders) {
  if (wanted.empty()) {
    for (const char* name : {"redis-server", "valkey-server"}) {
      if (auto found = look_for(name, folders); !found.empty()) return found;
    }
    throw failure(errc::embedded_server, std::string("no server program was found; ") + remedy);
  }
  if (!wanted.has_parent_path()) {
    if (auto found = look_for(wanted, folders); !found.empty()) return found;
  } else if (is_program(wanted)) {
    return fs::absolute(wanted);
  }
  throw failure(errc::embedded_server,
                "there is no program \"" + printable(wanted.string()) + "\"; " + remedy);
}

}  // namespace holdfast::embedded
