// Servers that a caller wants to be a quorum.
#pragma once

#include <memory>
#include <vector>

#include <holdfast/client.hpp>

#include "runtime/client_core.hpp"

namespace holdfast::api {

// Throws failure: `invalid_argument` when there is none, or when two have the same address, or not
// the same tenant;
// `unsupported` for what cannot be a member; `forked`.
std::vector<std::shared_ptr<runtime::client_core>> members_of(const std::vector<client>& servers);

}  // namespace holdfast::api
