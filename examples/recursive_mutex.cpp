// A function that needs a lock, called with and without it; and a task that says who it is.
#include <algorithm>
#include <iostream>
#include <stdexcept>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

namespace {

std::size_t most_holds = 0;

// [snippet recursive]
void book(const holdfast::recursive_mutex& journal, int entries) {
  const auto held = journal.acquire();  // asks the server only when the thread has it not yet
  most_holds = std::max(most_holds, journal.hold_count());
  if (entries > 1) book(journal, entries - 1);
}

holdfast::task<> book_as(holdfast::recursive_mutex journal, holdfast::owner me) {
  auto outer = co_await journal.of(me).async_acquire();  // a task has no thread: it says who it is
  auto inner = co_await journal.of(me).async_acquire();
  if (inner.token() != outer.token()) throw std::logic_error("two holds");
}
// [snippet end]

}  // namespace

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  const auto journal = redis.recursive_mutex("journal");
  book(journal, 3);
  holdfast::sync_wait(book_as(journal, {}));
  const bool free = redis.mutex("journal").try_acquire().has_value();
  std::cout << most_holds << " leases of one hold, then " << (free ? "free" : "held") << "\n";
  return free ? 0 : 1;
}
