// One sale from opening to the books.
#pragma once

#include <functional>
#include <string>

#include "cli/connection.hpp"
#include "cli/demo/story.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli::demo {

using progress = std::function<void(scenario, std::int64_t left, int frozen)>;

// Leaves no key and no process, however it ends. Throws `interrupted`.
outcome play(const connection_options& server, const sale& all, scenario what,
             const std::string& id, signal_watch& signals, const progress& show);

}  // namespace holdfast::cli::demo
