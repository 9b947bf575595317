// Tests with clusters of their own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "base/lock_key.hpp"
#include "support/cluster_servers.hpp"
#include "support/each_server.hpp"

namespace holdfast {

class OnCluster : public support::server_test {
 protected:
  support::cluster_servers start_cluster(support::cluster_settings settings = {}) const {
    settings.program = GetParam();
    return support::cluster_servers{settings};
  }
};

inline std::uint16_t slot_of(const std::string& name) { return lock_key{name}.slot(); }

// A name for each of the masters.
inline std::vector<std::string> names_of_each(const support::cluster_servers& servers,
                                              std::size_t masters = 3) {
  std::map<std::size_t, std::string> found;
  for (int i = 0; found.size() < masters; ++i) {
    const auto name = "lock " + std::to_string(i);
    found.emplace(servers.master_of(slot_of(name)), name);
  }
  std::vector<std::string> names;
  for (auto& [master, name] : found) names.push_back(name);
  return names;
}

inline client_options impatient() {
  return {.connect_timeout = std::chrono::seconds{1}, .response_timeout = std::chrono::seconds{1}};
}

// Where nothing is silent on purpose: a node on a busy machine takes its time.
inline client_options patient() {
  return {.connect_timeout = std::chrono::seconds{5}, .response_timeout = std::chrono::seconds{5}};
}

inline bool somebody_waits(const client& redis, const std::string& name) {
  return inspector{redis}.status(name).waiting == 1;
}

}  // namespace holdfast
