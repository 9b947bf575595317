// The options about listening, and the server that they ask for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/http/server.hpp"

namespace holdfast::cli {

struct listen_options {
  std::optional<http::listen_address> address{};
  std::vector<std::string> hosts{};  // --allow-host
};

void add_listen(CLI::App& command, listen_options& options, const std::string& what_for);

// Listens, and says where. Warns when other machines may reach it.
std::unique_ptr<http::server> listen(const listen_options& options, http::site& what,
                                     const context& shared);

}  // namespace holdfast::cli
