// Eight locks at once: how much more than one does a pair of all take?
#include <string>
#include <vector>

#include <holdfast/all_of.hpp>
#include <holdfast/client.hpp>

#include "support/measure.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {

void all_of8(const setting& with) {
  const holdfast::client client(with.redis.url());
  std::vector<lock> eight;
  for (int i = 0; i < 8; ++i) eight.push_back(client.mutex("bench " + std::to_string(i)));
  const lock one = client.mutex("bench"), all = all_of(eight);
  const auto pairs = [&](const lock& target) {
    return [&, length = with.slice()] {
      return run_slice(1, length, [&](int) { target.acquire().release().value(); });
    };
  };
  const auto figures = run_by_turns(with.redis, with.rounds(), {pairs(one), pairs(all)});
  with.results.at_most("all_of8.p50_vs_one_lock", figures[1].p50 / figures[0].p50, "x", 2.0);
  with.results.tell("all_of8.p50", figures[1].p50, "us");
  with.results.tell("all_of8.one_lock_p50", figures[0].p50, "us");
}

}  // namespace holdfast::bench
