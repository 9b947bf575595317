#include "cli/listening.hpp"

#include <fmt/format.h>

#include "cli/output.hpp"

namespace holdfast::cli {

void add_listen(CLI::App& command, listen_options& options, const std::string& what_for) {
  auto* const listens = command.add_option_function<std::string>(
      "--listen",
      [&options](const std::string& text) { options.address = http::parse_listen_address(text); },
      what_for);
  listens->type_name("ADDRESS");
  auto* const hosts = command.add_option(
      "--allow-host", options.hosts,
      "With --listen: another name by which browsers may call it, beside localhost, "
      "the name in ADDRESS and addresses. May be given several times");
  if (!options.address) hosts->needs(listens);
  hosts->type_name("NAME")->expected(1)->allow_extra_args(false)->multi_option_policy(
      CLI::MultiOptionPolicy::TakeAll);
}

std::unique_ptr<http::server> listen(const listen_options& options, http::site& what,
                                     const context& shared) {
  auto names = options.hosts;
  names.push_back(options.address->host);
  const bool is_open = !http::is_loopback(*options.address);
  // One address for all that come through a proxy: so it may not be too few.
  auto made = std::make_unique<http::server>(
      http::listen_at(*options.address), http::allowed_hosts(std::move(names)), what,
      http::server_limits{.per_address = is_open ? 64U : 0U});
  note(shared, "listening", fmt::format("listens at {}", made->url()));
  if (is_open) {
    note(
        shared, "open",
        "other machines may reach it: there is no log-in, and whoever reads it sees names of locks "
        "and hosts. Put it behind a firewall or a proxy with a log-in, or listen at 127.0.0.1");
  }
  return made;
}

}  // namespace holdfast::cli
