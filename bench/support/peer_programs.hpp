// The programs of bench/peers, which measure other lock libraries beside us.
#pragma once

#include <string>

namespace holdfast::bench {

// Built beside this program, outside the source tree, with the modules that their registries have.
// The path of the program; throws std::runtime_error where the language or its registry is not to
// be had.
std::string rueidislock_peer();
std::string redsync_peer();
std::string rslock_peer();
std::string node_redlock_peer();

}  // namespace holdfast::bench
