// Are these servers fit to be a quorum? Each for itself, and all together.
#pragma once

#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/inspector.hpp>

namespace holdfast::doctor {

// Throws nothing that a server causes. Leaves behind what `diagnose` does.
std::vector<finding> diagnose_quorum(const std::vector<client>& members);

}  // namespace holdfast::doctor
