// Which clients a server lets in: each of them may break every lock.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <holdfast/inspector.hpp>

#include "doctor/deployment.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::doctor {

// Whether this host, as it stands in a URL or among a server's settings, is this machine itself.
bool is_loopback(std::string_view address);

// Adds the findings about the server that has the hash slot. `ask` asks it for its settings. Throws
// nothing that a server causes.
void examine_access(runtime::client_core& core, std::uint16_t slot, const asking& ask,
                    std::vector<finding>& into);

}  // namespace holdfast::doctor
