// One thread, one lock: how far is a pair from the round trips that it needs?
#include <string>

#include <holdfast/client.hpp>

#include "support/measure.hpp"
#include "support/pairs.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

constexpr microseconds spin{50};

// The contestants: the plain socket that spins as we do, the one that does not, and ours.
struct contest {
  explicit contest(const setting& with)
      : spinning_socket(with.redis.port(), spin),
        sleeping_socket(with.redis.port(), microseconds{0}),
        spinning(holdfast::client(with.redis.url(), {.spin = spin}).mutex("bench")),
        sleeping(holdfast::client(with.redis.url(), {.spin = microseconds{0}}).mutex("bench")) {}

  raw_client spinning_socket;
  raw_client sleeping_socket;
  lock spinning;
  lock sleeping;
};

std::vector<slice> run(const setting& with, contest& all) {
  const auto length = with.turn();
  return run_by_turns(with.redis, with.turns(),
                      {pairs_of(all.spinning_socket, length), pairs_of(all.sleeping_socket, length),
                       pairs_of(all.spinning, length), pairs_of(all.sleeping, length),
                       scopes_of(all.spinning, length)});
}

void judge(const setting& with, placement where, const std::string& prefix,
           const std::vector<slice>& figures) {
  auto& results = with.results;
  const auto& spinning_socket = figures[0];
  const auto& sleeping_socket = figures[1];
  const auto& spinning = figures[2];
  const auto& sleeping = figures[3];
  const auto& scopes = figures[4];
  results.at_most(prefix + "p50_vs_spinning_socket", spinning.p50 / spinning_socket.p50, "x", 1.15);
  // On one core there is nothing to gain by looking: the server needs that core to answer.
  const double against_sleeping = spinning.p50 / sleeping_socket.p50;
  if (where == placement::two_cores) {
    results.at_most(prefix + "p50_vs_sleeping_socket", against_sleeping, "x", 0.6);
  } else {
    results.tell(prefix + "p50_vs_sleeping_socket", against_sleeping, "x");
  }
  results.at_most(prefix + "p50_without_spin_vs_sleeping_socket",
                  sleeping.p50 / sleeping_socket.p50, "x", 1.10);
  // A release that nobody waits for must not be waited for in the next acquisition.
  results.at_most(prefix + "p50_of_scopes_vs_pairs", scopes.p50 / spinning.p50, "x", 1);
  results.tell(prefix + "p50", spinning.p50, "us");
  results.tell(prefix + "p99", spinning.p99, "us");
  results.tell(prefix + "p50_without_spin", sleeping.p50, "us");
  results.tell(prefix + "spinning_socket_p50", spinning_socket.p50, "us");
  results.tell(prefix + "sleeping_socket_p50", sleeping_socket.p50, "us");
  with.tell_processor(prefix, spinning);
  with.tell_processor(prefix + "without_spin_", sleeping);
  with.tell_processor(prefix + "spinning_socket_", spinning_socket);
  with.tell_processor(prefix + "sleeping_socket_", sleeping_socket);
}

}  // namespace

void uncontended(const setting& with) {
  contest all(with);
  // Their threads are alive now, and move with the process.
  with.on_each_placement("uncontended", [&](placement where, const std::string& prefix) {
    judge(with, where, prefix, run(with, all));
  });
}

}  // namespace holdfast::bench
