#include "support/found_server.hpp"

#include <cstdlib>
#include <filesystem>

#include "embedded/find_server.hpp"

namespace holdfast::support {

// The name that is looked for first, in front of all others.
found_server::found_server(const std::string& program) {
  const auto installed = embedded::find_server(program, embedded::program_folders());
  std::filesystem::create_symlink(installed, folder_.path() / "redis-server");
}

std::string found_server::path() const {
  const char* const others = std::getenv("PATH");
  return folder_.path().string() + ":" + (others != nullptr ? others : "");
}

void found_server_test::SetUp() {
  server_test::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  found_.emplace(GetParam());
  path_.emplace("PATH", found_->path());
}

}  // namespace holdfast::support
