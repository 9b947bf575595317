// What is unsafe about the server that a client uses, whatever its locks do.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/inspector.hpp>

#include "resp/value.hpp"

namespace holdfast::api {

// What the server is to its locks: all that there is, or one of the members of a quorum.
enum class standing : std::uint8_t { alone, member };

// Sends one command; no answer is an error reply as well. `url`: without its login.
using asking = std::function<resp::value(std::initializer_list<std::string_view>)>;
std::vector<finding> examine_deployment(const asking& ask, const std::string& url, standing as);

}  // namespace holdfast::api
