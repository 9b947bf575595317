#include "embedded/directories.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
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

struct stat look_at(int fd) noexcept {
  struct stat found {};
  if (::fstat(fd, &found) != 0) found.st_mode = 0;
  return found;
}

bool is_ours(const fs::path& directory) noexcept {
  struct stat found {};
  return ::stat(directory.c_str(), &found) == 0 && found.st_uid == ::geteuid();
}

// XDG_RUNTIME_DIR is set by the system and may be stale, or another user's (su, a session that has
// ended): then it is passed over. TMPDIR is somebody's wish: when it cannot be used, that is an
// error.
fs::path base_directory() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/' && ::access(runtime, W_OK | X_OK) == 0 &&
      is_ours(runtime)) {
    return runtime;
  }
  const char* temporary = std::getenv("TMPDIR");
  return temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
}

// Whether another user than root can rename what we make in there. Where the owner of all that is
// the system's has no number here (a user namespace), "/" shows which one stands for it.
bool can_be_rearranged(const struct stat& directory) noexcept {
  struct stat root {};
  const bool has_root = ::stat("/", &root) == 0;
  const bool is_trusted = directory.st_uid == ::geteuid() || directory.st_uid == 0 ||
                          (has_root && directory.st_uid == root.st_uid);
  const bool is_sticky = (directory.st_mode & S_ISVTX) != 0;
  const bool is_open_to_group =
      (directory.st_mode & S_IWGRP) != 0 && directory.st_gid != ::getegid();
  return !is_trusted || (!is_sticky && ((directory.st_mode & S_IWOTH) != 0 || is_open_to_group));
}

// Users of a server get a URL, so its socket is also used by its path.
void refuse_if_rearrangeable(const fs::path& base) {
  std::error_code unknown;
  for (fs::path at = fs::canonical(base, unknown); !at.empty(); at = at.parent_path()) {
    struct stat found {};
    if (::stat(at.c_str(), &found) == 0 && can_be_rearranged(found)) {
      refuse(
          "in " + in_quotes(at) +
          " another user can put something else in the place of a server's directory; set TMPDIR "
          "to a directory of your own");
    }
    if (at == at.root_path()) return;
  }
}

std::string random_name() {
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  unsigned char bytes[8] = {};
  (void)!::getrandom(bytes, sizeof bytes, 0);
  std::string name = "holdfast-";
  for (const auto byte : bytes) name += letters[byte % letters.size()];
  return name;
}

// The first file of a shared server is its lock, and it stays when the server has ended.
bool is_used_otherwise(int directory) {
  const int again = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(again < 0 ? nullptr : ::fdopendir(again),
                                                    &::closedir);
  if (!listing) return false;
  bool has_files = false;
  while (const auto* const entry = ::readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (name == shared_lock) return false;
    has_files = has_files || (name != "." && name != "..");
  }
  return has_files;
}

// With a slash behind it a link would be followed.
fs::path without_trailing_slashes(const fs::path& directory) {
  auto text = directory.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

}  // namespace

fs::path own_directory::by_descriptor(const char* name) const {
  const fs::path open_one = "/proc/self/fd/" + std::to_string(fd());
  std::error_code unknown;
  return fs::exists(open_one, unknown) ? open_one / name : path_ / name;
}

private_directory::private_directory() : generation_(net::process_generation()) {
  const auto base = fs::absolute(base_directory());
  refuse_if_rearrangeable(base);
  parent_.reset(::open(base.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  auto path = base / random_name();
  while (::mkdirat(parent_.get(), path.filename().c_str(), 0700) != 0) {
    if (errno == EEXIST) {
      path.replace_filename(random_name());
      continue;
    }
    const auto why = last_error();
    refuse("cannot create the directory " + in_quotes(path) + " (" + why +
           "); set TMPDIR to a directory that can be written");
  }
  const int fd = ::openat(parent_.get(), path.filename().c_str(),
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  opened_ = std::make_shared<const own_directory>(path, fd);
  const auto found = look_at(fd);
  if (!S_ISDIR(found.st_mode) || found.st_uid != ::geteuid() || (found.st_mode & 077) != 0) {
    refuse("another user has put something in the place of the directory " + in_quotes(path));
  }
}

private_directory::~private_directory() {
  if (generation_ != net::process_generation() || !opened_) return;
  remove_contents(opened_->fd());
  ::unlinkat(parent_.get(), path().filename().c_str(), AT_REMOVEDIR);
}

std::shared_ptr<const own_directory> prepare_shared_directory(const fs::path& named) {
  const auto directory = without_trailing_slashes(named);
  const bool is_new = ::mkdir(directory.c_str(), 0700) == 0;
  if (!is_new && errno != EEXIST)
    refuse("cannot create the directory " + in_quotes(directory) + " (" + last_error() + ")");
  const net::descriptor place(::open(directory.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  const auto found = look_at(place.get());
  if (!S_ISDIR(found.st_mode)) refuse(in_quotes(directory) + " is not a directory");
  if (found.st_uid != ::geteuid())
    refuse_in_favour_of_another(directory, "belongs to another user");
  if ((found.st_mode & 077) != 0) {
    refuse_in_favour_of_another(directory, "can be entered by other users");
  }
  auto opened = std::make_shared<const own_directory>(
      directory, ::openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened->fd() < 0)
    refuse("cannot open the directory " + in_quotes(directory) + " (" + last_error() + ")");
  if (is_used_otherwise(opened->fd())) {
    refuse_in_favour_of_another(directory, "holds something else than a server's files");
  }
  return opened;
}

fs::path socket_in(const fs::path& directory) {
  auto socket = directory / socket_name;
  if (socket.native().size() >= sizeof(sockaddr_un::sun_path)) {
    refuse("the socket path " + in_quotes(socket) +
           " is longer than the system allows (107 bytes); choose a shorter directory");
  }
  return socket;
}

}  // namespace holdfast::embedded
