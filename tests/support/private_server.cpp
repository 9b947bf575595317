#include "support/private_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/eventually.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::support {
namespace {

namespace fs = std::filesystem;

fs::path make_directory() {
  auto pattern = (fs::temp_directory_path() / "holdfast-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  return pattern;
}

std::uint16_t free_port() {
  const net::descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), generic, size) != 0 ||
      ::getsockname(socket.get(), generic, &size) != 0) {
    throw std::runtime_error("no free port");
  }
  return ntohs(address.sin_port);
}

}  // namespace

class private_server::state {
 public:
  explicit state(server_settings given)
      : settings_(std::move(given)), directory_(make_directory()) {
    socket_ = directory_ / "server.sock";
    url_ = "unix://" + socket_;
    start();
  }

  ~state() {
    stop();
    if (::testing::Test::HasFailure()) std::fprintf(stderr, "server log:\n%s\n", log().c_str());
    fs::remove_all(directory_);
  }

  void start() {
    // Somebody else may take the free port before the server does.
    for (int attempt = 1;; ++attempt) {
      if (settings_.tcp && port_ == 0) port_ = free_port();
      spawn();
      if (eventually([this] { return has_ended() || answers(); }) && !has_ended()) return;
      stop();
      if (!settings_.tcp || attempt == 5) {
        throw std::runtime_error(settings_.program + " did not start:\n" + log());
      }
      port_ = 0;
    }
  }

  void stop() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    if (!has_ended()) ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  bool has_ended() {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = 0;
    return pid_ == 0;
  }

  bool answers() const {
    try {
      return raw_connection(net::unix_endpoint{socket_}).command({"PING"}).kind != resp::type::null;
    } catch (const std::runtime_error&) {
      return false;
    }
  }

  std::string log() const {
    std::ostringstream text;
    text << std::ifstream(directory_ / "server.log").rdbuf();
    return text.str();
  }

  server_settings settings_;
  fs::path directory_;
  std::string socket_;
  std::string url_;
  std::uint16_t port_ = 0;
  pid_t pid_ = 0;

 private:
  std::vector<std::string> command_line() const {
    std::vector<std::string> words{settings_.program,
                                   "--port",
                                   std::to_string(port_),
                                   "--bind",
                                   "127.0.0.1",
                                   "--unixsocket",
                                   socket_,
                                   "--save",
                                   "",
                                   "--appendonly",
                                   "no",
                                   "--daemonize",
                                   "no",
                                   "--dir",
                                   directory_.string()};
    words.insert(words.end(), settings_.arguments.begin(), settings_.arguments.end());
    return words;
  }

  void spawn() {
    auto words = command_line();
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::vector<char*> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
    for (auto& entry : settings_.environment) environment.push_back(entry.data());
    environment.push_back(nullptr);
    const auto log_file = (directory_ / "server.log").string();

    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork failed");
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int log_fd = ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(log_fd, 1);
    ::dup2(log_fd, 2);
    ::execvpe(arguments[0], arguments.data(), environment.data());
    ::_exit(127);
  }
};

private_server::private_server(server_settings settings)
    : state_(std::make_unique<state>(std::move(settings))) {}
private_server::~private_server() = default;
private_server::private_server(private_server&&) noexcept = default;
private_server& private_server::operator=(private_server&&) noexcept = default;

const std::string& private_server::url() const { return state_->url_; }
const std::string& private_server::socket() const { return state_->socket_; }
std::uint16_t private_server::port() const { return state_->port_; }
int private_server::pid() const { return state_->pid_; }
std::string private_server::log() const { return state_->log(); }

std::string private_server::tcp_url() const {
  return "redis://127.0.0.1:" + std::to_string(port());
}

void private_server::freeze() { ::kill(pid(), SIGSTOP); }
void private_server::thaw() { ::kill(pid(), SIGCONT); }
void private_server::kill9() { state_->stop(); }

void private_server::restart() {
  state_->stop();
  state_->start();
}

resp::value private_server::command(const std::vector<std::string>& words) const {
  return raw_connection(net::unix_endpoint{socket()}).command(words);
}

}  // namespace holdfast::support
