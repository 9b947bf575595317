// Who holds a lock, since when and for how long: for operators' tools.
#include <iostream>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv), {.name = "backup"}};
  const auto held = redis.mutex("nightly").acquire();

  const holdfast::inspector look{redis};
  for (const auto& lock : look.list("night*").locks) {
    std::cout << lock.name << ": " << lock.owner.program << " (pid " << lock.owner.pid << " on "
              << lock.owner.host << "), token " << lock.token.to_string() << ", "
              << lock.remaining.value().count() << " ms left\n";
  }
  const auto status = look.status("nightly");
  return status.state == holdfast::lock_state::held && status.token == held.token() ? 0 : 1;
}
