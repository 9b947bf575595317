// Shows the last look at each server as metrics.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/serve/watched_server.hpp"

namespace holdfast::cli {

std::string server_metrics(const std::vector<std::unique_ptr<watched_server>>& servers);

}  // namespace holdfast::cli
