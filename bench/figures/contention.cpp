// One lock that many want: threads of one process, and processes.
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/client.hpp>

#include "support/bare_queue.hpp"
#include "support/contest.hpp"
#include "support/external.hpp"
#include "support/measure.hpp"
#include "support/peer_programs.hpp"
#include "support/ping.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

using std::chrono::milliseconds;

// The library's threads, with a client for each process.
contest::work with_clients(const setting& with, const lock_options& options) {
  return [url = with.redis.url(), options](tally& all, int process, int threads) {
    const client own(url);
    contend(all, process, threads, [&](int /*me*/) {
      return [mine = own.mutex("contended", options)] { return mine.acquire(); };
    });
  };
}

// Those who do no more than pass it on, with a connection for each thread.
contest::work with_bare_queues(const setting& with) {
  return [port = with.redis.port()](tally& all, int process, int threads) {
    contend(all, process, threads, [&](int me) {
      return [mine = bare_queue(port, "bare", me)]() mutable { return mine.take_turn(); };
    });
  };
}

contest many_threads(const setting& with) {
  return {.processes = 1, .threads = 16, .length = milliseconds(with.quick ? 1500 : 5000)};
}

contest many_processes(const setting& with) {
  return {.processes = 4, .threads = 4, .length = milliseconds(with.quick ? 1500 : 5000)};
}

int turns(const setting& with) { return with.quick ? 1 : 5; }

void among_threads(const setting& with) {
  auto& results = with.results;
  const auto got = many_threads(with).run(with_clients(with, {}));
  results.at_least("contention.one_process_rate", got.rate, "acquisitions/s", 500'000);
  results.at_least("contention.one_process_switches", got.switches, "/s", 10'000);
  results.at_least("contention.one_process_jain", got.jain, "index", 0.95);
  results.at_most("contention.one_process_longest_wait", got.longest_wait, "ms", 50);
}

// By turns with a trip, and with what sockets and scripts can do that do nothing else.
void fair_beside_the_limit(const setting& with) {
  std::vector<double> ours, bare, ping, switches, bare_switches;
  for (int turn = 0; turn < turns(with); ++turn) {
    ping.push_back(ping_p50(with));
    const auto fair = many_processes(with).run(with_clients(with, {.fair = true}));
    const auto limit = many_processes(with).run(with_bare_queues(with));
    ours.push_back(fair.handover_p50);
    bare.push_back(limit.handover_p50);
    switches.push_back(fair.process_switches);
    bare_switches.push_back(limit.process_switches);
  }
  auto& results = with.results;
  const double handover = median(std::move(ours)), limit = median(std::move(bare));
  const double trip = median(std::move(ping));
  const double rate = median(std::move(switches)), most = median(std::move(bare_switches));
  results.at_most("contention.fair_handover_vs_ping", handover / trip, "x", 0.8);
  results.tell("contention.bare_handover_vs_ping", limit / trip, "x");
  results.tell("contention.fair_handover_vs_bare", handover / limit, "x");
  results.tell("contention.fair_switches_vs_bare", rate / most, "x");
  results.tell("contention.fair_handover_p50", handover, "us");
  results.tell("contention.bare_handover_p50", limit, "us");
  results.tell("contention.ping_p50", trip, "us");
  results.tell("contention.bare_switches", most, "/s");
}

void fairness(const setting& with) {
  std::vector<double> calls;
  const auto contest = many_processes(with);
  const auto fair = contest.run(with_clients(with, {.fair = true}),
                                [&] { calls.push_back(calls_of(with.redis.port(), "evalsha")); });
  auto& results = with.results;
  results.at_least("contention.fair_jain", fair.jain, "index", 0.99);
  results.tell("contention.fair_longest_wait", fair.longest_wait, "ms");
  results.tell("contention.fair_rate", fair.rate, "acquisitions/s");
  const double acquired = fair.rate * std::chrono::duration<double>(contest.length).count();
  results.at_most("contention.fair_commands_per_acquisition", (calls[1] - calls[0]) / acquired,
                  "commands", 2.02);
}

// How often a second a lock goes from one process to another, by turns with the library that was
// the best at it of those that starve nobody.
void switches_beside_a_peer(const setting& with) {
  const std::string name = "contention.fair_switches_vs_rslock";
  std::vector<double> ours, theirs, jain;
  try {
    const auto peer = rslock_peer();
    const auto port = std::to_string(with.redis.port());
    for (int turn = 0; turn < turns(with); ++turn) {
      double switches = 0, index = 0;
      std::istringstream(output_of({peer, port, "4", "4", "2000"})) >> switches >> index;
      theirs.push_back(switches);
      jain.push_back(index);
      const auto fair = many_processes(with).run(with_clients(with, {.fair = true}));
      ours.push_back(fair.process_switches);
    }
  } catch (const std::exception& error) {
    return with.results.skip(name, error.what());
  }
  auto& results = with.results;
  const double rate = median(std::move(ours)), peers_rate = median(std::move(theirs));
  results.at_least(name, rate / peers_rate, "x", 4);
  results.tell("contention.fair_switches", rate, "/s");
  results.tell("contention.rslock_switches", peers_rate, "/s");
  results.tell("contention.rslock_jain", median(std::move(jain)), "index");
}

void among_processes(const setting& with) {
  auto& results = with.results;
  const auto got = many_processes(with).run(with_clients(with, {}));
  results.at_least("contention.processes_rate", got.rate, "acquisitions/s", 100'000);
  results.at_least("contention.processes_least_share", got.least_share, "share", 0.5);
  results.tell("contention.processes_longest_wait", got.longest_wait, "ms");
}

}  // namespace

void contention(const setting& with) {
  among_threads(with);
  fair_beside_the_limit(with);
  fairness(with);
  switches_beside_a_peer(with);
  among_processes(with);
}

}  // namespace holdfast::bench
