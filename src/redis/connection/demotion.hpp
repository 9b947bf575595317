// Whether an answer says that the master has become a replica.
#pragma once

#include "redis/resp/value.hpp"

namespace holdfast::redis {

// Such a server refuses for good. Scripts that do something to each of several locks tell the
// refusal of each in a list.
bool tells_of_demotion(const resp::value& said) noexcept;

}  // namespace holdfast::redis
