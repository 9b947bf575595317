// At most two at a time, whatever the number of processes; a dead holder's permits come back.
#include <iostream>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

int main(int argc, char** argv) {
  const auto url = server_url(argc, argv);
  const holdfast::client redis{url};  // others may be on other machines

  // [snippet semaphore]
  const auto cards = redis.semaphore("graphics cards", {.permits = 2});
  auto first = cards.acquire();        // one permit
  const auto both = cards.permits(2);  // two at once, or none
  const auto busy = !both.try_acquire();
  first.release().value();
  const auto held = both.try_acquire();
  // [snippet end]
  const auto left = redis.semaphore("graphics cards", {.permits = 2}).try_acquire();
  std::cout << (busy ? "busy, then " : "") << (held ? "both" : "none") << ", "
            << (left ? "one left" : "none left") << '\n';
  return busy && held && !left ? 0 : 1;
}
