// Two locks at once through the standard library, which avoids the deadlock.
#include <iostream>
#include <mutex>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

namespace {

int from = 100;
int to = 0;

// One lockable per thread over locks that all share.
void transfer(const holdfast::lock& first, const holdfast::lock& second) {
  for (int i = 0; i < 10; ++i) {
    holdfast::lockable a{first}, b{second};
    std::scoped_lock guard{a, b};
    --from, ++to;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  const auto a = redis.mutex("account:a");
  const auto b = redis.mutex("account:b");
  {
    std::jthread one{[&] { transfer(a, b); }};
    std::jthread other{[&] { transfer(b, a); }};
  }
  std::cout << "moved " << to << ", " << from << " left\n";
  return from == 80 && to == 20 ? 0 : 1;
}
