// What is unsafe about a server, whatever its locks do.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <holdfast/inspector.hpp>

#include "redis/resp/value.hpp"

namespace holdfast::doctor {

// What the server is to its locks: all that there is, or one of the members of a quorum, and then
// of a Sentinel group, whose new master is noticed.
enum class standing : std::uint8_t { alone, member, group };

// Sends one command; no answer is an error reply as well.
using asking = std::function<resp::value(std::initializer_list<std::string_view>)>;

// Nothing when its user may not look.
std::vector<finding> examine_master(const asking&, standing);

// The same of one that may be the next.
std::vector<finding> examine_replica(const asking&, standing);

}  // namespace holdfast::doctor
