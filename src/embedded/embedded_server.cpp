#include <holdfast/embedded_server.hpp>

#include <holdfast/errc.hpp>

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

embedded_server::embedded_server(const embedded_options& options)
    : state_(std::make_unique<state>(options)) {}
embedded_server::~embedded_server() = default;
embedded_server::embedded_server(embedded_server&&) noexcept = default;
embedded_server& embedded_server::operator=(embedded_server&&) noexcept = default;

const std::string& embedded_server::url() const noexcept { return state_->url_; }

const std::filesystem::path& embedded_server::socket() const noexcept {
  return state_->process_.socket();
}

const std::filesystem::path& embedded_server::directory() const noexcept {
  return state_->directory_.path();
}

int embedded_server::pid() const noexcept { return state_->process_.pid(); }

void embedded_server::restart_empty() { state_->process_.restart(); }

}  // namespace holdfast
