#include "inspection/client_listing.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/request_id.hpp"
#include "inspection/key_scan.hpp"
#include "inspection/registry.hpp"
#include "inspection/survey.hpp"
#include "redis/dialects/holdfast/client_registry.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::inspection {
namespace {

auto order_of(const registered_client& one) {
  return std::tie(one.who.host, one.who.program, one.who.pid, one.who.id);
}

// Looks at entries while their keys are found: a key may be none, or gone by now.
class found_clients {
 public:
  found_clients(runtime::client_core& core, survey& over, const list_options& options)
      : prefix_(redis_locks::engine_of(core).space().named("client:")),
        core_(core),
        survey_(over),
        known_(core, until_stopped(options)) {}

  std::string pattern() const { return prefix_ + "*"; }

  void look_at(const std::vector<std::string>& keys) {
    std::vector<known_clients::wanted> fresh;
    for (const auto& key : keys) {
      auto id = key.substr(prefix_.size());
      if (dialects::is_client(id) && ids_.insert(id).second) fresh.push_back({std::move(id)});
    }
    known_.learn(fresh);
    for (const auto& one : fresh) add(one.client);
  }

  std::vector<registered_client>& all() noexcept { return all_; }

 private:
  void add(const std::string& client) {
    const auto slot = dialects::client_place{redis_locks::engine_of(core_).space(), client}.slot;
    survey_.look("", slot, [&] {
      if (const auto why = known_.why_unknown(client)) throw failure{*why};
      const auto& entry = known_.entry_of(client);
      if (!entry) return;
      registered_client found{known_.who(client, client.substr(0, shown_client_digits))};
      if (entry->since > server_time{}) {
        found.since = std::chrono::system_clock::time_point{entry->since.time_since_epoch()};
      }
      all_.push_back(std::move(found));
    });
  }

  const std::string prefix_;
  runtime::client_core& core_;
  survey& survey_;
  known_clients known_;
  std::set<std::string> ids_;
  std::vector<registered_client> all_;
};

}  // namespace

client_listing list_clients(runtime::client_core& core, const list_options& options) {
  check_stop(options);
  survey all{core, until_stopped(options)};
  key_scan scan{core, all, options};
  scan.count();
  found_clients found{core, all, options};
  client_listing listing;
  listing.complete = scan.walk(found.pattern(), [&](const std::vector<std::string>& keys) {
    found.look_at(keys);
    return found.all().size() <= options.most;
  });
  listing.clients = std::move(found.all());
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
