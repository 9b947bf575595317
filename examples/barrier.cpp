// Workers that begin each round together.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  // [snippet barrier]
  constexpr int workers = 3;
  std::atomic<int> done{0};
  const auto work = [&] {
    const auto round = redis.barrier("round", workers);
    for (int i = 1; i <= 5; ++i) {
      ++done;
      round.arrive_and_wait();  // nobody begins round i + 1 before all have done round i
      if (done < workers * i) std::abort();
    }
  };
  // [snippet end]
  std::vector<std::jthread> threads;
  for (int i = 0; i < workers; ++i) threads.emplace_back(work);
  threads.clear();
  std::cout << done << " pieces in 5 rounds\n";
}
