#include "embedded/directories.hpp"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <holdfast/errc.hpp>

#include "base/printable.hpp"
#include "embedded/remove_tree.hpp"
#include "net/descriptor.hpp"

namespace holdfast::embedded {
namespace {

namespace fs = std::filesystem;

std::string in_quotes(const fs::path& path) { return "\"" + printable(path.string()) + "\""; }

[[noreturn]] void refuse(const std::string& why) { throw failure(errc::embedded_server, why); }

// Nobody shall be talked into closing /tmp to all others.
[[noreturn]] void refuse_in_favour_of_another(const fs::path& directory, const char* why) {
  refuse("the directory " + in_quotes(directory) + " " + why +
         "; name a directory of its own, such as /tmp/holdfast-$USER");
}

std::string last_error() { return std::generic_category().message(errno); }

// XDG_RUNTIME_DIR is set by the system and may be stale (su, a session that has ended): then it is
// passed over. TMPDIR is somebody's wish: when it cannot be used, that is an error.
fs::path base_directory() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/' && ::access(runtime, W_OK | X_OK) == 0) return runtime;
  const char* temporary = std::getenv("TMPDIR");
  return temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
}

// The first file of a shared server is its lock, and it stays when the server has ended.
bool is_used_otherwise(const fs::path& directory) {
  std::error_code unreadable;
  const fs::directory_iterator first(directory, unreadable);
  return first != fs::directory_iterator{} && !fs::exists(directory / shared_lock, unreadable);
}

}  // namespace

private_directory::private_directory() : generation_(net::process_generation()) {
  auto pattern = (fs::absolute(base_directory()) / "holdfast-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    const auto why = last_error();
    refuse("cannot create the directory " + in_quotes(pattern) + " (" + why +
           "); set TMPDIR to a directory that can be written");
  }
  path_ = pattern;
}

private_directory::~private_directory() {
  if (generation_ == net::process_generation()) remove_tree(path_.c_str());
}

void prepare_shared_directory(const fs::path& directory) {
  if (::mkdir(directory.c_str(), 0700) == 0) return;
  if (errno != EEXIST)
    refuse("cannot create the directory " + in_quotes(directory) + " (" + last_error() + ")");
  struct stat found {};
  if (::lstat(directory.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) {
    refuse(in_quotes(directory) + " is not a directory");
  }
  if (found.st_uid != ::geteuid())
    refuse_in_favour_of_another(directory, "belongs to another user");
  if ((found.st_mode & 077) != 0) {
    refuse_in_favour_of_another(directory, "can be entered by other users");
  }
  if (is_used_otherwise(directory)) {
    refuse_in_favour_of_another(directory, "holds something else than a server's files");
  }
}

fs::path socket_in(const fs::path& directory) {
  auto socket = directory / "server.sock";
  if (socket.native().size() >= sizeof(sockaddr_un::sun_path)) {
    refuse("the socket path " + in_quotes(socket) +
           " is longer than the system allows (107 bytes); choose a shorter directory");
  }
  return socket;
}

}  // namespace holdfast::embedded
