#include "embedded/shared_server.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include <holdfast/errc.hpp>

#include "base/number.hpp"
#include "base/printable.hpp"
#include "embedded/directories.hpp"
#include "embedded/find_server.hpp"
#include "embedded/server_process.hpp"
#include "net/clock.hpp"
#include "net/socket.hpp"

namespace holdfast::embedded {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds join_timeout{15'000};
constexpr milliseconds pause{10};
constexpr const char* users_name = "users";

[[noreturn]] void give_up(const fs::path& directory, const std::string& why) {
  throw failure(errc::embedded_server,
                "the shared server in \"" + printable(directory.string()) + "\": " + why);
}

int linger_ms() {
  const char* text = std::getenv("HOLDFAST_EMBEDDED_LINGER");
  if (text == nullptr) return 30'000;
  if (const auto value = parse_number<int>(text); value && *value >= 0) return *value;
  throw failure(
      errc::invalid_argument,
      "HOLDFAST_EMBEDDED_LINGER must be a number of milliseconds, not \"" + printable(text) + "\"");
}

net::connect_limits within(milliseconds time) { return {net::now() + time, {}, nullptr}; }

}  // namespace

class shared_embedded_server::use {
 public:
  explicit use(const fs::path& directory)
      : directory_(fs::absolute(directory)), socket_(socket_in(directory_)) {}

  void join() {
    opened_ = prepare_shared_directory(directory_);
    const auto deadline = net::now() + join_timeout;
    net::descriptor lock;
    take(lock, deadline);
    create_users();
    while (net::now() < deadline) {
      if (!enter()) return start();
      if (answers(endpoint(), std::min(deadline, net::now() + milliseconds{500}))) return;
      // It is just starting, or has just crashed. When its supervisor goes, POLLERR wakes us.
      net::wait_ready(users_.get(), 0, within(pause));
    }
    give_up(directory_, "it runs but does not answer; see server.log there");
  }

  const fs::path& socket() const noexcept { return socket_; }
  fs::path endpoint() const { return opened_->by_descriptor(socket_name); }

 private:
  int open(const char* name, int flags) const {
    return ::openat(opened_->fd(), name, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
  }

  void take(net::descriptor& lock, monotonic_time deadline) const {
    lock.reset(open(shared_lock, O_RDWR | O_CREAT));
    if (!lock) give_up(directory_, "cannot open lock: " + std::generic_category().message(errno));
    while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      if (net::now() >= deadline) give_up(directory_, "another process keeps its lock");
      net::wait_ready(-1, 0, within(pause));
    }
  }

  void create_users() const {
    if (::mkfifoat(opened_->fd(), users_name, 0600) == 0 || errno == EEXIST) return;
    give_up(directory_, "cannot create users: " + std::generic_category().message(errno));
  }

  // Becomes a user. False when no supervisor is there to see it.
  bool enter() {
    users_.reset(open(users_name, O_WRONLY | O_NONBLOCK));
    if (!users_ && errno != ENXIO) {
      give_up(directory_, "cannot open users: " + std::generic_category().message(errno));
    }
    return static_cast<bool>(users_);
  }

  void start() {
    const net::descriptor users_end(open(users_name, O_RDONLY | O_NONBLOCK));
    if (!users_end || !enter()) give_up(directory_, "cannot open users");
    const shared_use shared{.users = users_name,
                            .lock = shared_lock,
                            .users_end = users_end.get(),
                            .linger_ms = linger_ms()};
    server_process server({.program = find_server({}, program_folders()), .directory = opened_},
                          &shared);
    server.await_answer();
  }

  fs::path directory_;
  fs::path socket_;
  std::shared_ptr<const own_directory> opened_;
  net::descriptor users_;  // held open for writing as long as we use the server
};

shared_embedded_server::shared_embedded_server(std::unique_ptr<use> joined)
    : use_(std::move(joined)) {}
shared_embedded_server::~shared_embedded_server() = default;
shared_embedded_server::shared_embedded_server(shared_embedded_server&&) noexcept = default;
shared_embedded_server& shared_embedded_server::operator=(shared_embedded_server&&) noexcept =
    default;

shared_embedded_server shared_embedded_server::join(const fs::path& directory) {
  auto joined = std::make_unique<use>(directory);
  joined->join();
  return shared_embedded_server(std::move(joined));
}

const fs::path& shared_embedded_server::socket() const noexcept { return use_->socket(); }
fs::path shared_embedded_server::endpoint() const { return use_->endpoint(); }

}  // namespace holdfast::embedded
