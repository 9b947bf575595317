// A service that starts when its three parts are ready.
#include <iostream>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  // [snippet latch]
  const auto ready = redis.latch("ready");
  if (!ready.try_set(3)) return 1;  // somebody else starts the service
  std::vector<std::jthread> parts;
  for (int i = 0; i < 3; ++i) {
    parts.emplace_back([&] { ready.count_down(); });  // in other processes, as a rule
  }
  ready.wait();
  // [snippet end]
  std::cout << "ready, " << ready.count() << " missing\n";
}
