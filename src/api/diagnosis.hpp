// Is this server fit for Holdfast? Everything is tried for real, on a lock of its own name.
#pragma once

#include <vector>

#include <holdfast/inspector.hpp>

#include "runtime/client_core.hpp"

namespace holdfast::api {

// Throws nothing that the server causes. Leaves no key behind but a fence counter.
std::vector<finding> diagnose(runtime::client_core& core);

}  // namespace holdfast::api
