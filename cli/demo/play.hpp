// One sale from opening to the books.
#pragma once

#include <functional>
#include <string>

#include "cli/connection.hpp"
#include "cli/demo/story.hpp"

namespace holdfast::cli::demo {

using progress = std::function<void(scenario, std::int64_t left, int frozen)>;

outcome play(const connection_options& server, const sale& all, scenario what,
             const std::string& prefix, const progress& show);

}  // namespace holdfast::cli::demo
