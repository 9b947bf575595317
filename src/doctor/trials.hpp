// Tries what the server is needed for, each kind of lock once, under a name that nobody else uses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/inspector.hpp>

namespace holdfast::doctor {

// How the server is deployed: kinds that a cluster does not have are not tried there.
enum class deployed : std::uint8_t { one_server, cluster };

// Adds what was found: the kinds that work, those that this user may not use, and what failed.
// Leaves nothing behind but fence counters and what ends by itself. Throws nothing that a server
// causes.
void try_every_kind(const client& redis, std::string_view name, deployed as,
                    std::vector<finding>& into);

}  // namespace holdfast::doctor
