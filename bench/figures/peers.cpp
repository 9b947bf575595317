// 64 threads, a lock each, against the fastest lock library that shares a connection.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <holdfast/client.hpp>

#include "support/external.hpp"
#include "support/measure.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

std::string go_program() {
  if (is_installed("go")) return "go";
  const char* const usual = "/usr/local/go/bin/go";
  return std::filesystem::exists(usual) ? usual : "";
}

// Built outside the source tree, beside this program.
std::filesystem::path build_peer(const std::string& go) {
  const auto program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "rueidislock";
  output_of({go, "-C", HOLDFAST_BENCH_PEERS "/rueidislock", "build", "-o", program.string(), "."});
  return program;
}

}  // namespace

void peers(const setting& with) {
  constexpr int threads = 64;
  const std::string name = "peers";
  const auto go = go_program();
  if (go.empty()) return with.results.skip(name, "no go");
  std::filesystem::path peer;
  try {
    peer = build_peer(go);
  } catch (const std::exception& error) {
    return with.results.skip(name, error.what());  // no network for its modules
  }
  const holdfast::client client(with.redis.url());
  std::vector<lock> locks;
  for (int i = 0; i < threads; ++i) locks.push_back(client.mutex("bench-" + std::to_string(i)));
  const auto milliseconds = std::to_string(with.quick ? 500 : 1000);
  const auto theirs = [&] {
    return slice{.rate = std::stod(output_of({peer.string(), std::to_string(with.redis.port()),
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
