// Reads the audit trail, and says of each grant how it ended.
#pragma once

#include <string_view>

#include <holdfast/inspector.hpp>

#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// inspector::audit.
audit_report read_audit(runtime::client_core& core, std::string_view pattern,
                        milliseconds how_long);

}  // namespace holdfast::inspection
