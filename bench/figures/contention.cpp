// One lock that many want: threads of one process, and processes.
#include <sstream>
#include <stdexcept>
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
contest::work with_clients(const setting& with, const mutex_options& options) {
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
  results.at_most("contention.one_process_disordered", got.disordered, "tokens", 0);
}

double median_of(const std::vector<contest::outcome>& turns, double contest::outcome::*what) {
  std::vector<double> each;
  for (const auto& one : turns) each.push_back(one.*what);
  return median(std::move(each));
}

// How often a second a lock goes from one process to another in the library that was the best at it
// of those that starve nobody.
class rslock_turns {
 public:
  void take(const setting& with) {
    if (!missing_.empty()) return;
    try {
      if (program_.empty()) program_ = rslock_peer();
      const auto port = std::to_string(with.redis.port());
      double switches = 0, index = 0;
      if (!(std::istringstream(output_of({program_, port, "4", "4", "2000"})) >> switches >>
            index)) {
        throw std::runtime_error("it does not say how often the lock went round");
      }
      switches_.push_back(switches);
      jain_.push_back(index);
    } catch (const std::exception& error) {
      missing_ = error.what();
    }
  }

  void report(bench::report& results, double ours) {
    const std::string name = "contention.fair_switches_vs_rslock";
    if (!missing_.empty()) return results.skip(name, missing_);
    const double theirs = median(std::move(switches_));
    results.at_least(name, ours / theirs, "x", 4);
    results.tell("contention.rslock_switches", theirs, "/s");
    // Else it would be no peer to compare with.
    results.at_least("contention.rslock_jain", median(std::move(jain_)), "index", 0.95);
  }

 private:
  std::string program_;
  std::string missing_;  // why there is nothing to compare with
  std::vector<double> switches_, jain_;
};

// The number of commands for each acquisition goes to `commands`.
contest::outcome fair_turn(const setting& with, std::vector<double>& commands) {
  std::vector<double> calls;
  const auto all = many_processes(with);
  const auto got = all.run(with_clients(with, {.fair = true}),
                           [&] { calls.push_back(calls_of(with.redis.port(), "evalsha")); });
  const double acquired = got.rate * std::chrono::duration<double>(all.length).count();
  commands.push_back((calls[1] - calls[0]) / acquired);
  return got;
}

// By turns: a trip, ours, what sockets and scripts can do that do nothing else, and a peer.
void fair_among_processes(const setting& with) {
  std::vector<contest::outcome> ours, bare;
  std::vector<double> ping, commands;
  rslock_turns peer;
  for (int turn = 0; turn < turns(with); ++turn) {
    ping.push_back(ping_p50(with));
    ours.push_back(fair_turn(with, commands));
    bare.push_back(many_processes(with).run(with_bare_queues(with)));
    peer.take(with);
  }
  double disordered = 0;  // in any turn: a median would hide one
  for (const auto& one : ours) disordered += one.disordered;
  auto& results = with.results;
  using outcome = contest::outcome;
  const double trip = median(std::move(ping));
  const double handover = median_of(ours, &outcome::handover_p50);
  const double limit = median_of(bare, &outcome::handover_p50);
  const double rate = median_of(ours, &outcome::process_switches);
  const double most = median_of(bare, &outcome::process_switches);
  results.at_most("contention.fair_handover_vs_ping", handover / trip, "x", 0.8);
  results.tell("contention.bare_handover_vs_ping", limit / trip, "x");
  results.tell("contention.fair_handover_vs_bare", handover / limit, "x");
  results.tell("contention.fair_switches_vs_bare", rate / most, "x");
  peer.report(results, rate);
  results.tell("contention.ping_p50", trip, "us");
  results.tell("contention.fair_handover_p50", handover, "us");
  results.tell("contention.bare_handover_p50", limit, "us");
  results.tell("contention.fair_switches", rate, "/s");
  results.tell("contention.bare_switches", most, "/s");
  results.tell("contention.fair_rate", median_of(ours, &outcome::rate), "acquisitions/s");
  results.at_most("contention.fair_disordered", disordered, "tokens", 0);
  results.at_least("contention.fair_jain", median_of(ours, &outcome::jain), "index", 0.99);
  results.tell("contention.fair_longest_wait", median_of(ours, &outcome::longest_wait), "ms");
  const double asked = median(std::move(commands));
  results.at_most("contention.fair_commands_per_acquisition", asked, "commands", 2.02);
  // One that asks once was not counted, or got what it did not ask for.
  results.at_least("contention.fair_commands_at_least", asked, "commands", 1.98);
}

void among_processes(const setting& with) {
  auto& results = with.results;
  const auto got = many_processes(with).run(with_clients(with, {}));
  results.at_least("contention.processes_rate", got.rate, "acquisitions/s", 100'000);
  results.at_least("contention.processes_least_share", got.least_share, "share", 0.5);
  results.tell("contention.processes_longest_wait", got.longest_wait, "ms");
  results.at_most("contention.processes_disordered", got.disordered, "tokens", 0);
}

}  // namespace

void contention(const setting& with) {
  among_threads(with);
  fair_among_processes(with);
  among_processes(with);
}

}  // namespace holdfast::bench
