// How the sentinels are spoken to: as their servers are, or as the options say.
#pragma once

#include <optional>

#include <holdfast/options.hpp>

#include "redis/connection/url.hpp"

namespace holdfast::api {

// Throws failure{errc::invalid_argument} where what the options say of that link contradicts the
// URL or itself, or names files that cannot be used; failure{errc::unsupported} without TLS.
void check_sentinel_link(const redis::server_url& url, const client_options& options);

// Their login and TLS. `servers`: how those are spoken to. The options have been checked.
void set_up_link(redis::sentinel_group& sentinels, const std::optional<tls_options>& servers,
                 const client_options& options);

}  // namespace holdfast::api
