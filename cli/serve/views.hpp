// Shows looks as JSON. docs/serve.openapi.json describes it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "cli/serve/lock_query.hpp"
#include "cli/serve/look.hpp"
#include "cli/serve/watched_server.hpp"

namespace holdfast::cli {

using json_view = nlohmann::ordered_json;

json_view server_view(const watched_server& server);
json_view locks_view(const watched_server& server, const look& seen, const lock_query& wanted);
json_view lock_view_of(const watched_server& server, const lock_status& lock);
json_view clients_view(const watched_server& server, const look& seen);
json_view waits_view(const watched_server& server, const look& seen);
json_view doctor_view(const watched_server& server, const diagnosis& health);

std::string text_of(const json_view& view);

}  // namespace holdfast::cli
