// A cluster of three masters: what does a pair cost there, and how many more are there in a second?
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/client.hpp>

#include "base/lock_key.hpp"
#include "redis/dialects/catalog.hpp"
#include "support/cluster.hpp"
#include "support/measure.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

constexpr std::size_t masters = 3;
constexpr int crowd = 64;                // threads
constexpr int threads_of_a_client = 16;  // more clients than one can keep three servers busy
// Three servers and a client that is to keep them busy.
constexpr unsigned enough_cores = 5;

// As many for each master, in turns.
std::vector<std::string> names_for_all(int count) {
  std::vector<std::string> names;
  for (int i = 0; std::ssize(names) < count; ++i) {
    auto name = "bench-" + std::to_string(i);
    const auto where = lock_key(name).slot() * masters / 16'384;
    if (where == names.size() % masters) names.push_back(std::move(name));
  }
  return names;
}

// Each thread takes its locks by turns: one of each of so many masters.
contestant pairs(const std::string& url, std::size_t of, int threads, nanoseconds length) {
  std::vector<client> clients;
  for (int i = 0; i < threads; i += threads_of_a_client) clients.emplace_back(url);
  std::vector<std::vector<lock>> locks(static_cast<std::size_t>(threads));
  const auto names = names_for_all(threads * static_cast<int>(masters));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto self = i / masters;
    if (i % masters < of) locks[self].push_back(clients[self % clients.size()].mutex(names[i]));
  }
  std::vector<std::size_t> turns(locks.size());
  return [=]() mutable {
    return run_slice(threads, length, [&](int self) {
      const auto mine = static_cast<std::size_t>(self);
      locks[mine][turns[mine]++ % of].acquire().release().value();
    });
  };
}

// A pair with one thread over plain sockets: the cost of servers that take turns, whichever client
// asks.
contestant plain_pairs(const std::vector<std::uint16_t>& ports, nanoseconds length) {
  const auto sockets = std::make_shared<std::deque<raw_client>>();
  std::vector<lock_key> keys;
  for (const auto& name : names_for_all(static_cast<int>(masters))) {
    const auto port = ports[keys.size() % ports.size()];
    load_scripts(port);
    sockets->emplace_back(port, client_options{}.spin);
    keys.emplace_back(name);
  }
  return [=, turn = std::size_t{0}]() mutable {
    return run_slice(1, length, [&](int) {
      const auto next = turn++ % masters;
      (*sockets)[next].pair(dialects::native_mutex(fencing::on), keys[next]);
    });
  };
}

double processor(const slice& one) { return one.processor + one.server; }

}  // namespace

void cluster_pair(const setting& with) {
  const cluster three(masters);
  const auto server_time = [&] { return with.redis.processor_time() + three.processor_time(); };
  const auto contestants = [&](int threads, nanoseconds length) {
    return std::vector{pairs(with.redis.url(), masters, threads, length),
                       pairs(three.url(), 1, threads, length),
                       pairs(three.url(), masters, threads, length)};
  };
  const bool is_roomy = std::thread::hardware_concurrency() >= enough_cores;
  auto& results = with.results;
  // Where one server and its client meet depends on the scheduler, and what waking costs on that.
  with.redis.place(placement::two_cores);
  three.place(placement::two_cores);
  auto all = contestants(1, with.turn());
  all.push_back(plain_pairs({with.redis.port()}, with.turn()));
  all.push_back(plain_pairs(three.ports(), with.turn()));
  const auto alone = run_by_turns(server_time, with.turns(), all);
  with.redis.place(placement::free);
  three.place(placement::free);
  const auto ratio = processor(alone[2]) / processor(alone[0]);
  if (is_roomy) {
    results.tell("cluster_pair.processor_vs_one_server", ratio, "x");
  } else {
    results.at_most("cluster_pair.processor_vs_one_server", ratio, "x", 1.15);
  }
  results.tell("cluster_pair.plain_sockets_processor_vs_one_server",
               processor(alone[4]) / processor(alone[3]), "x");
  results.tell("cluster_pair.p50_vs_one_server", alone[2].p50 / alone[0].p50, "x");
  with.tell_processor("cluster_pair.one_server_", alone[0]);
  with.tell_processor("cluster_pair.one_master_", alone[1]);
  with.tell_processor("cluster_pair.", alone[2]);
  const auto crowded = run_by_turns(server_time, with.rounds(), contestants(crowd, with.slice()));
  const auto rate = crowded[2].rate / crowded[0].rate;
  if (is_roomy) {
    results.at_least("cluster_pair.threads64_rate_vs_one_server", rate, "x", 2);
  } else {
    results.tell("cluster_pair.threads64_rate_vs_one_server", rate, "x");
  }
  results.tell("cluster_pair.threads64_processor_vs_one_server",
               processor(crowded[2]) / processor(crowded[0]), "x");
}

}  // namespace holdfast::bench
