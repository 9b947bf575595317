// Whether an attacker on the way to a server, or to a sentinel, can read and change the traffic.
#pragma once

#include <optional>
#include <string>

#include <holdfast/inspector.hpp>
#include <holdfast/options.hpp>

#include "net/socket.hpp"

namespace holdfast::doctor {

// `wanted`: the client's option; none: plain. `agreed`: "TLSv1.3, TLS_AES_256_GCM_SHA384", empty
// where that is not known.
finding examine_encryption(const net::endpoint& to, const std::optional<tls_options>& wanted,
                           const std::string& agreed);

}  // namespace holdfast::doctor
