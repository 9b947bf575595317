#include <holdfast/embedded_server.hpp>

#include <utility>

#include <holdfast/errc.hpp>

#include "base/uncancelled.hpp"
#include "embedded/directories.hpp"
#include "embedded/find_server.hpp"
#include "embedded/server_process.hpp"

namespace holdfast {
namespace {

std::chrono::milliseconds checked(std::chrono::milliseconds start_timeout) {
  if (start_timeout >= std::chrono::milliseconds{1} && start_timeout <= std::chrono::minutes{10}) {
    return start_timeout;
  }
  throw failure{errc::invalid_argument, "start_timeout must be 1 ms to 10 min"};
}

}  // namespace

class embedded_server::state {
 public:
  explicit state(const embedded_options& options)
      : program_(embedded::find_server(options.program, embedded::program_folders())),
        process_({.program = program_,
                  .directory = directory_.opened(),
                  .arguments = options.arguments,
                  .environment = {},
                  .start_timeout = checked(options.start_timeout)}),
        url_("unix://" + process_.socket().string()) {
    process_.await_answer();
  }

  std::filesystem::path program_;
  embedded::private_directory directory_;
  embedded::server_process process_;
  std::string url_;
};

// No default argument: see decision 20.
embedded_server::embedded_server() : embedded_server(embedded_options{}) {}

embedded_server::embedded_server(const embedded_options& options) {
  const uncancelled meanwhile;
  state_ = std::make_unique<state>(options);
}

embedded_server::~embedded_server() {
  const uncancelled meanwhile;
  state_.reset();
}

embedded_server::embedded_server(embedded_server&&) noexcept = default;

embedded_server& embedded_server::operator=(embedded_server&& other) noexcept {
  const uncancelled meanwhile;  // while that which was here ends
  state_ = std::move(other.state_);
  return *this;
}

const std::string& embedded_server::url() const noexcept { return state_->url_; }

const std::filesystem::path& embedded_server::socket() const noexcept {
  return state_->process_.socket();
}

const std::filesystem::path& embedded_server::directory() const noexcept {
  return state_->directory_.path();
}

int embedded_server::pid() const noexcept { return state_->process_.pid(); }

void embedded_server::restart_empty() {
  const uncancelled meanwhile;
  state_->process_.restart();
}

}  // namespace holdfast
