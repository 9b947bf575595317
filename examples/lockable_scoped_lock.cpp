// Two locks at once through the standard library, which avoids the deadlock.
#include <iostream>
#include <mutex>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

namespace {

int from = 100;
int to = 0;

void transfer(holdfast::lockable& first, holdfast::lockable& second) {
  for (int i = 0; i < 10; ++i) {
    const std::scoped_lock guard{first, second};
    --from, ++to;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  holdfast::lockable a{redis.mutex("account:a")};
  holdfast::lockable b{redis.mutex("account:b")};
  {
    std::jthread one{[&] { transfer(a, b); }};
    std::jthread other{[&] { transfer(b, a); }};
  }
  std::cout << "moved " << to << ", " << from << " left\n";
  return from == 80 && to == 20 ? 0 : 1;
}
