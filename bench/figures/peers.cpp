// 64 threads, a lock each, against the fastest lock library that shares a connection.
#include <string>

#include <holdfast/client.hpp>

#include "support/external.hpp"
#include "support/measure.hpp"
#include "support/peer_programs.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {

void peers(const setting& with) {
  constexpr int threads = 64;
  const std::string name = "peers";
  std::string peer;
  try {
    peer = rueidislock_peer();
  } catch (const std::exception& error) {
    return with.results.skip(name, error.what());
  }
  const holdfast::client client(with.redis.url());
  std::vector<lock> locks;
  for (int i = 0; i < threads; ++i) locks.push_back(client.mutex("bench-" + std::to_string(i)));
  const auto milliseconds = std::to_string(with.quick ? 500 : 1000);
  const auto theirs = [&] {
    return slice{.rate = std::stod(output_of({peer, std::to_string(with.redis.port()),
                                              std::to_string(threads), milliseconds}))};
  };
  const auto ours = [&] {
    return run_slice(threads, with.slice(), [&](int i) {
      locks[static_cast<std::size_t>(i)].acquire().release().value();
    });
  };
  try {
    with.on_each_placement("peers", [&](placement, const std::string& prefix) {
      const auto figures = run_by_turns(with.redis, with.quick ? 1 : 5, {theirs, ours});
      with.results.at_least(prefix + "rate_vs_rueidislock", figures[1].rate / figures[0].rate, "x",
                            1.2);
      with.results.tell(prefix + "rueidislock_rate", figures[0].rate, "pairs/s");
    });
  } catch (const std::exception& error) {
    with.results.skip(name, error.what());  // it was seen to hang
  }
}

}  // namespace holdfast::bench
