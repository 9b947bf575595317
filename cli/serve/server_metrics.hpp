// What was seen, as metrics of `serve`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/serve/watched_server.hpp"

namespace holdfast::cli {

std::string server_metrics(const std::vector<std::unique_ptr<watched_server>>& servers);

}  // namespace holdfast::cli
