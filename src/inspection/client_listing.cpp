#include "inspection/client_listing.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/request_id.hpp"
#include "inspection/key_scan.hpp"
#include "inspection/registry.hpp"
#include "inspection/survey.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::inspection {
namespace {

registered_client describe(const std::string& client, known_clients& known) {
  registered_client found{known.who(client, client.substr(0, shown_client_digits))};
  const auto& entry = known.entry_of(client);
  if (entry && entry->since > server_time{}) {
    found.since = std::chrono::system_clock::time_point{entry->since.time_since_epoch()};
  }
  return found;
}

auto order_of(const registered_client& one) {
  return std::tie(one.who.host, one.who.program, one.who.pid, one.who.id);
}

}  // namespace

client_listing list_clients(runtime::client_core& core, const list_options& options) {
  check_stop(options);
  survey all{core, until_stopped(options)};
  key_scan scan{core, all, options};
  scan.count();
  const auto prefix = redis_locks::engine_of(core).space().named("client:");
  std::set<std::string> ids;
  client_listing listing;
  listing.complete = scan.walk(prefix + "*", [&](const std::vector<std::string>& keys) {
    for (const auto& key : keys) {
      auto id = key.substr(prefix.size());
      if (dialects::is_client(id)) ids.insert(std::move(id));
    }
    return ids.size() <= options.most;
  });
  known_clients known(core, until_stopped(options));
  known.learn(std::vector<known_clients::wanted>(ids.begin(), ids.end()));
  for (const auto& id : ids) {
    if (known.entry_of(id)) listing.clients.push_back(describe(id, known));
  }
  std::ranges::sort(listing.clients, {}, order_of);
  if (listing.clients.size() > options.most) {
    listing.clients.resize(options.most);
    listing.complete = false;
  }
  listing.unseen = all.unseen();
  if (!listing.unseen.empty()) listing.complete = false;
  return listing;
}

}  // namespace holdfast::inspection
