// Settings of a server that are unsafe for all locks.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <holdfast/inspector.hpp>

#include "redis/resp/value.hpp"

namespace holdfast::doctor {

// The part that a server plays for its locks: the only server, a member of a quorum, or a member
// that is a Sentinel group, whose new master clients notice.
enum class standing : std::uint8_t { alone, member, group };

// Sends one command; no answer is an error reply as well.
using asking = std::function<resp::value(std::initializer_list<std::string_view>)>;

// Nothing when its user may not look.
std::vector<finding> examine_master(const asking&, standing);

// As above, for a replica that may be the next master.
std::vector<finding> examine_replica(const asking&, standing);

}  // namespace holdfast::doctor
