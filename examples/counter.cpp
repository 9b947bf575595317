// A stock that many sell from: never below zero, and each sale counts once.
#include <iostream>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  // [snippet counters]
  const auto stock = redis.counter("tickets");
  const auto sold = redis.counter("sold");
  stock.set(50);
  {
    std::vector<std::jthread> sellers;
    for (int i = 0; i < 4; ++i) {
      sellers.emplace_back([&] {
        while (stock.subtract(1)) sold.add();
      });
    }
  }
  const auto refill = stock.update("return math.min(value + ARGV[1], 50)", {"80"});
  // [snippet end]
  std::cout << sold.get() << " sold, " << refill << " in stock again\n";
  const bool exact = sold.get() == 50 && refill == 50;
  stock.set(0);  // leaves nothing behind
  sold.set(0);
  return exact ? 0 : 1;
}
