// Is this server fit for Holdfast? Everything is tried for real, on a lock of its own name.
#pragma once

#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/inspector.hpp>

#include "doctor/deployment.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::doctor {

// Throws nothing that the server causes, and `cancelled` after a stop of the client. Leaves no key
// behind but fence counters and what ends by itself.
std::vector<finding> diagnose(const client& redis, runtime::client_core& core,
                              standing as = standing::alone);

}  // namespace holdfast::doctor
