// Who is behind a request id.
#pragma once

#include <string>

#include <holdfast/holder.hpp>

#include "runtime/client_core.hpp"

namespace holdfast::api {

// Adds what the client registry knows; an entry that is gone leaves the fields empty. `client`: see
// dialects::parse_owner. Throws failure when the server cannot be asked.
void look_up(runtime::client_core& core, const std::string& client, holder& owner);

}  // namespace holdfast::api
