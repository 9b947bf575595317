// All clients that have an entry in the client registry.
#pragma once

#include <holdfast/inspector.hpp>

#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// inspector::list_clients.
client_listing list_clients(runtime::client_core& core, const list_options& options);

}  // namespace holdfast::inspection
