// The servers behind `embedded:` URLs.
#pragma once

#include <memory>

#include "redis/connection/url.hpp"

namespace holdfast::api {

// For an embedded URL: starts or joins the server, sets url.where, and returns what keeps the
// server alive. Otherwise null. Throws failure{errc::embedded_server}.
std::shared_ptr<void> start_private_server(redis::server_url& url);

}  // namespace holdfast::api
