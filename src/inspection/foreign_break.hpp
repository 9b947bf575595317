// Takes locks of other libraries away.
#pragma once

#include <string_view>

#include <holdfast/dialect.hpp>
#include <holdfast/inspector.hpp>

#include "redis/locks/blocking_request.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// inspector::break_lock in a dialect that is another library's.
lock_status break_foreign(runtime::client_core& core, std::string_view name,
                          std::string_view reason, const dialect& how,
                          const redis_locks::bound& within = {});

}  // namespace holdfast::inspection
