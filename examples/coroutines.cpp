// A hundred coroutines on one thread take turns at ten locks.
#include <chrono>
#include <iostream>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

using namespace std::chrono_literals;

namespace {

holdfast::task<> buy(holdfast::lock orders, int& stock) {  // the lock by value, it is cheap
  auto lease = co_await orders.async_acquire({.timeout = 60s});
  --stock;
  (co_await lease.async_release()).value();  // throws what went wrong
}

}  // namespace

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  int stock = 120;
  std::vector<holdfast::task<>> buyers;
  for (int i = 0; i < 100; ++i) {
    buyers.push_back(buy(redis.mutex("stock:" + std::to_string(i % 10)), stock));
  }
  holdfast::sync_wait(holdfast::when_all(std::move(buyers)));
  std::cout << stock << " left\n";
  return stock == 20 ? 0 : 1;
}
