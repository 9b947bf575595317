// Runs Lua scripts as Redis does. One interpreter per thread, shared by all servers on it, which
// compiles each script once.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "redis/resp/value.hpp"
#include "simulation/server/keyspace.hpp"

namespace holdfast::simulation {

// A command that a script gives; its answer in the shape of RESP2.
using command_runner = std::function<resp::value(words)>;

// Compiles a script, if this thread has not yet; the error when that fails, or null.
resp::value compile_script(const std::string& sha1, std::string_view text);

// Whether replicas are sent what is done now: a script can switch that off (redis.set_repl).
bool is_sent_to_replicas();

// Runs a script that was compiled on this thread.
resp::value run_script(std::string_view sha1, words keys, words args, const command_runner& run);

}  // namespace holdfast::simulation
