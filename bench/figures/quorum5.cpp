// A lock of five servers: how much more than one server's does a pair cost?
#include <functional>
#include <list>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/embedded_server.hpp>
#include <holdfast/quorum.hpp>

#include "support/external.hpp"
#include "support/fault_proxy.hpp"
#include "support/measure.hpp"
#include "support/pairs.hpp"
#include "support/peer_programs.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

// One for each server and one for us: asked in parallel they answer in parallel.
constexpr unsigned enough_cores = 6;

// Other libraries' pairs at the same servers, by turns with ours. A turn is as long for us as for
// them: in the first tens of milliseconds after another program's turn all is slower.
void beside_a_peer(const setting& with, const std::string& name,
                   const std::function<std::string()>& build, std::vector<std::string> words,
                   const std::vector<std::string>& sockets, const lock& ours) {
  try {
    const milliseconds turn(with.quick ? 500 : 2000);
    words.insert(words.begin(), build());
    words.push_back(std::to_string(turn.count()));
    words.insert(words.end(), sockets.begin(), sockets.end());
    const auto theirs = [&] {
      slice told;
      if (std::istringstream(output_of(words)) >> told.p50 >> told.processor) return told;
      throw std::runtime_error("it does not say how long it took");
    };
    const auto figures =
        run_by_turns(with.redis, with.quick ? 1 : 5, {theirs, pairs_of(ours, turn)});
    const double processor = figures[1].processor / figures[0].processor;
    with.results.at_most("quorum5.processor_vs_" + name, processor, "x", 1);
    with.results.at_most("quorum5.p50_vs_" + name, figures[1].p50 / figures[0].p50, "x", 1);
  } catch (const std::exception& error) {
    with.results.skip("quorum5.processor_vs_" + name, error.what());
  }
}

// Where the way takes longer than the work, servers that are asked at once answer at once, however
// few cores there are.
void far_away(const setting& with, const std::vector<std::string>& sockets) {
  std::list<support::fault_proxy> ways;
  std::vector<client> members;
  for (const auto& socket : sockets) {
    ways.emplace_back(net::unix_endpoint{socket});
    ways.back().delay(support::toward::server, milliseconds(2));
    members.emplace_back(ways.back().url());
  }
  const auto figures = run_by_turns(with.redis, with.rounds(),
                                    {pairs_of(members.front().mutex("bench"), with.slice()),
                                     pairs_of(quorum{members}.mutex("bench"), with.slice())});
  with.results.at_most("quorum5.p50_vs_one_far_server", figures[1].p50 / figures[0].p50, "x", 1.8);
}

// Threads that have locks of their own: the unfinished requests of one of them must not hold up
// others.
void four_threads(const setting& with, const quorum& five) {
  std::vector<lock> own;
  for (const auto* const name : {"a", "b", "c", "d"}) own.push_back(five.mutex(name));
  const auto threads = [&](int count) {
    return [&with, &own, count] {
      return run_slice(count, with.slice(), [&own](int self) {
        own[static_cast<std::size_t>(self)].acquire().release().value();
      });
    };
  };
  const auto figures = run_by_turns(with.redis, with.rounds(), {threads(1), threads(4)});
  with.results.at_least("quorum5.rate_of_four_threads_vs_one", figures[1].rate / figures[0].rate,
                        "x", 0.8);
}

}  // namespace

void quorum5(const setting& with) {
  std::vector<std::unique_ptr<embedded_server>> servers;
  std::vector<client> members;
  std::vector<std::string> sockets;
  for (int i = 0; i < 5; ++i) {
    servers.push_back(
        std::make_unique<embedded_server>(embedded_options{.program = measured_program()}));
    members.emplace_back(servers.back()->url());
    sockets.push_back(servers.back()->url().substr(std::string("unix://").size()));
  }
  const lock one = members.front().mutex("bench");
  const lock five = quorum{members}.mutex("bench");
  const auto pairs = [&](const lock& target) { return pairs_of(target, with.turn()); };
  const auto figures = run_by_turns(with.redis, with.turns(), {pairs(one), pairs(five)});
  with.results.at_most("quorum5.processor_vs_one_server",
                       figures[1].processor / figures[0].processor, "x", 5.5);
  const double p50 = figures[1].p50 / figures[0].p50;
  if (std::thread::hardware_concurrency() >= enough_cores) {
    with.results.at_most("quorum5.p50_vs_one_server", p50, "x", 1.8);
  } else {
    with.results.tell("quorum5.p50_vs_one_server", p50, "x");
  }
  with.results.tell("quorum5.p50", figures[1].p50, "us");
  far_away(with, sockets);
  four_threads(with, quorum{members});
  beside_a_peer(with, "redsync", redsync_peer, {}, sockets, five);
  beside_a_peer(with, "rslock", rslock_peer, {"pairs"}, sockets, five);
  beside_a_peer(with, "node_redlock", node_redlock_peer, {"redlock"}, sockets, five);
  beside_a_peer(with, "redlock_universal", node_redlock_peer, {"universal"}, sockets, five);
}

}  // namespace holdfast::bench
