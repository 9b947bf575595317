// How long after a new master accepts writes is the first lock granted?
#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "net/clock.hpp"
#include "support/cluster_servers.hpp"
#include "support/measure.hpp"
#include "support/sentinel_group.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

constexpr std::chrono::seconds longest{60};

// An error is an answer too: the sentinels close all connections of the one that they promote.
bool accepts(const support::private_server& server, const std::string& key) {
  try {
    return server.command({"SET", key, "1"}).text == "OK";
  } catch (const std::runtime_error&) {
    return false;
  }
}

monotonic_time when(const std::function<bool()>& it_is_so) {
  const auto until = net::now() + longest;
  while (!it_is_so()) {
    if (net::now() > until) throw std::runtime_error("there is no new master");
    wait_for(std::chrono::milliseconds(1));
  }
  return net::now();
}

// Of a client that asks from when the master dies.
double from_writable_to_grant(const client& redis, const std::string& name,
                              support::private_server& master,
                              const std::function<bool()>& writable) {
  const auto target = redis.mutex(name);
  target.acquire().release().value();
  master.kill9();
  auto accepted = std::async(std::launch::async, when, writable);
  const auto held = target.acquire({.timeout = longest});
  const auto granted = net::now();
  return std::chrono::duration<double, std::milli>(granted - accepted.get()).count();
}

double of_a_sentinel_group() {
  support::sentinel_group group(measured_program());
  auto& old = group.server(group.master());
  const auto writable = [&] {
    for (std::size_t i = 0; i < support::sentinel_group::members; ++i) {
      if (&group.server(i) != &old && accepts(group.server(i), "probe")) return true;
    }
    return false;
  };
  return from_writable_to_grant(client(group.url()), "failover", old, writable);
}

double of_a_cluster() {
  support::cluster_servers servers({.program = measured_program(), .masters = 3, .replicas = 1});
  const auto name = servers.name_at(0, "failover");
  const auto writable = [&] { return accepts(servers.node(3), "probe{" + name + "}"); };
  return from_writable_to_grant(client(servers.url()), name, servers.node(0), writable);
}

void tell(const setting& with, const std::string& name, double (*once)()) {
  std::vector<double> took;
  for (int round = 0; round < (with.quick ? 1 : 5); ++round) took.push_back(once());
  with.results.tell(name + "_longest", *std::ranges::max_element(took), "ms");
  with.results.at_most(name, median(std::move(took)), "ms", 1000);
}

}  // namespace

void failover(const setting& with) {
  tell(with, "failover.sentinel_first_grant", of_a_sentinel_group);
  tell(with, "failover.cluster_first_grant", of_a_cluster);
}

}  // namespace holdfast::bench
