// Measures how much longer a pair takes, and how much more the server does, with an audit trail.
#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "support/measure.hpp"
#include "support/pairs.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {

void audited_pair(const setting& with) {
  const holdfast::client plain(with.redis.url());
  const holdfast::client audited(with.redis.url(), {.audit = "bench*"});
  const auto length = with.turn();
  const std::vector<contestant> all{pairs_of(plain.mutex("bench"), length),
                                    pairs_of(audited.mutex("bench"), length)};
  run_by_turns(with.redis, 1, all);  // their threads are alive now, and move with the process
  with.redis.place(placement::two_cores);
  const auto figures = run_by_turns(with.redis, with.turns(), all);
  with.redis.place(placement::free);
  auto& results = with.results;
  const auto& without = figures[0];
  const auto& kept = figures[1];
  // The median does not see what comes with every fiftieth pair.
  results.tell("audited_pair.pairs_vs_plain", kept.rate / without.rate, "x");
  results.tell("audited_pair.p50_vs_plain", kept.p50 / without.p50, "x");
  results.tell("audited_pair.p99_vs_plain", kept.p99 / without.p99, "x");
  results.tell("audited_pair.processor_vs_plain", kept.processor / without.processor, "x");
  results.tell("audited_pair.server_vs_plain", kept.server / without.server, "x");
  results.tell("audited_pair.plain_p50", without.p50, "us");
}

}  // namespace holdfast::bench
