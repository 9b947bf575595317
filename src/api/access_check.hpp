// Who may come in at a server: whoever does may break every lock.
#pragma once

#include <cstdint>
#include <vector>

#include <holdfast/inspector.hpp>

#include "api/deployment.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::api {

// Adds what was found at whoever has the hash slot, who is asked by `ask` for its settings. Throws
// nothing that a server causes.
void examine_access(runtime::client_core& core, std::uint16_t slot, const asking& ask,
                    std::vector<finding>& into);

}  // namespace holdfast::api
