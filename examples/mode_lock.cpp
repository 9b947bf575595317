// The modes of the classic lock managers: writers that bear each other, then one that does not.
#include <iostream>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

int main(int argc, char** argv) {
  const auto url = server_url(argc, argv);
  const holdfast::client redis{url};  // others may be on other machines

  // [snippet modes]
  using holdfast::lock_mode;
  const auto table = redis.mode_lock("table");
  auto mine = table.in(lock_mode::concurrent_write).acquire();
  auto theirs = redis.mode_lock("table").in(lock_mode::concurrent_write).acquire();
  const auto alone = table.change(mine, lock_mode::exclusive).try_acquire();  // not yet
  theirs.release().value();
  const auto now_alone = table.change(mine, lock_mode::exclusive).try_acquire();
  // [snippet end]
  // [snippet value]
  table.set_value(*now_alone, "version 2");  // until somebody else writes it
  const auto version = table.value(*now_alone);
  // [snippet end]
  std::cout << (alone ? "too early" : "both wrote") << ", then " << (now_alone ? "one" : "none")
            << '\n';
  return !alone && now_alone && !mine.held() && version == "version 2" ? 0 : 1;
}
