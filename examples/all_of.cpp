// Money moves between two accounts, whose locks everybody names in another order.
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  int alice = 100, bob = 100;
  // [snippet all_of]
  const auto move = [&](const std::string& from, int& source, const std::string& to, int& target) {
    const auto both = holdfast::all_of({redis.mutex(from), redis.mutex(to)});
    const auto held = both.acquire();  // safe if others name them the other way round
    source -= 1;
    target += 1;
  };
  // [snippet end]
  {
    std::vector<std::jthread> movers;
    for (int i = 0; i < 4; ++i) {
      movers.emplace_back([&, i] {
        for (int k = 0; k < 25; ++k) {
          if (i == 0) {
            move("bob", bob, "alice", alice);
          } else {
            move("alice", alice, "bob", bob);
          }
        }
      });
    }
  }
  std::cout << "alice " << alice << ", bob " << bob << "\n";
  return alice + bob == 200 ? 0 : 1;
}
