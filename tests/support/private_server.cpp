#include "support/private_server.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>

#include <holdfast/errc.hpp>

#include "embedded/directories.hpp"
#include "embedded/find_server.hpp"
#include "embedded/server_process.hpp"
#include "support/eventually.hpp"
#include "support/forked.hpp"
#include "support/listener.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::support {

class private_server::state {
 public:
  explicit state(const server_settings& settings) {
    // Somebody else may take the free port before the server does.
    for (int attempts_left = settings.tcp ? 5 : 1; !process; --attempts_left) {
      try {
        start(settings);
      } catch (const failure&) {
        process.reset();
        if (attempts_left == 1) throw;
      }
    }
    url = "unix://" + process->socket().string();
  }

  ~state() {
    if (::testing::Test::HasFailure()) std::fprintf(stderr, "server log:\n%s\n", log().c_str());
  }

  std::string log() const {
    std::ostringstream text;
    text << std::ifstream(directory.path() / "server.log").rdbuf();
    return text.str();
  }

  embedded::private_directory directory;
  std::optional<embedded::server_process> process;
  std::uint16_t port = 0;
  std::string url;

 private:
  void start(const server_settings& settings) {
    port = settings.tcp ? free_port() : std::uint16_t{0};
    std::vector<std::string> arguments{"--port", std::to_string(port), "--bind", "127.0.0.1"};
    arguments.insert(arguments.end(), settings.arguments.begin(), settings.arguments.end());
    process.emplace(embedded::server_order{
        .program = embedded::find_server(settings.program, embedded::program_folders()),
        .directory = directory.path(),
        .arguments = std::move(arguments),
        .environment = settings.environment,
        .start_timeout = generous});
    process->await_answer();
  }
};

private_server::private_server(const server_settings& settings)
    : state_(std::make_unique<state>(settings)) {}
private_server::~private_server() = default;
private_server::private_server(private_server&&) noexcept = default;
private_server& private_server::operator=(private_server&&) noexcept = default;

const std::string& private_server::url() const { return state_->url; }
std::string private_server::socket() const { return state_->process->socket().string(); }
std::uint16_t private_server::port() const { return state_->port; }
int private_server::pid() const { return state_->process->pid(); }
std::string private_server::log() const { return state_->log(); }

std::string private_server::tcp_url() const {
  return "redis://127.0.0.1:" + std::to_string(port());
}

void private_server::freeze() { ::kill(pid(), SIGSTOP); }
void private_server::thaw() { ::kill(pid(), SIGCONT); }
void private_server::restart() { state_->process->restart(); }

void private_server::kill9() {
  ::kill(pid(), SIGKILL);
  if (!eventually([this] { return is_gone(pid()); })) throw std::runtime_error("it does not die");
}

resp::value private_server::command(const std::vector<std::string>& words) const {
  return raw_connection(net::unix_endpoint{socket()}).command(words);
}

}  // namespace holdfast::support
