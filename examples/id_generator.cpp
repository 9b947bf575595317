// Order numbers without a database: from a counter in blocks, and from the time.
#include <iostream>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};

  // [snippet ids]
  const auto orders = redis.id_generator("orders", {.block = 100});
  const auto first = orders.next();   // asks the server
  const auto second = orders.next();  // does not

  const auto events = redis.snowflake("events");  // leases a machine number
  const auto one = events.next();                 // asks nobody
  const auto another = events.next();
  // [snippet end]
  std::cout << (second > first ? "counted" : "?") << ", " << (another > one ? "timed" : "?")
            << " on machine " << events.machine() << '\n';
  return second > first && another > one ? 0 : 1;
}
