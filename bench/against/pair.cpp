// pair URL pairs|scopes MILLISECONDS: the median of an acquisition and its release, in ns. With
// what the public API has been from the first day on, so that any revision can be asked.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <holdfast/holdfast.hpp>

int main(int count, char** arguments) {
  using clock = std::chrono::steady_clock;
  if (count != 4) return 2;
  const bool waits = std::string_view(arguments[2]) == "pairs";
  const holdfast::client redis(arguments[1]);
  const auto lock = redis.mutex("bench");
  const auto pair = [&] {
    auto held = lock.acquire();
    if (waits) (void)held.release();
  };
  for (int i = 0; i < 500; ++i) pair();
  std::vector<std::int64_t> took;
  const auto end = clock::now() + std::chrono::milliseconds(std::atoi(arguments[3]));
  for (auto from = clock::now(); from < end;) {
    pair();
    const auto to = clock::now();
    took.push_back(std::chrono::nanoseconds(to - from).count());
    from = to;
  }
  std::ranges::nth_element(took, took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2));
  std::printf("%lld\n", static_cast<long long>(took[took.size() / 2]));
}
