// Asking once, waiting for a while, and being called off: ordinary outcomes are values.
#include <chrono>
#include <iostream>
#include <stop_token>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  // In earnest another thread or process has it; one that waits for itself would be told so.
  const auto nightly = redis.mutex("nightly", {.lease = 10s, .reentry = holdfast::reentry::waits});
  const auto held = nightly.acquire();

  // [snippet outcomes]
  auto once = nightly.try_acquire();                   // asks once
  auto soon = nightly.try_acquire({.timeout = 50ms});  // waits, but not for ever
  std::stop_source shutdown;
  shutdown.request_stop();
  auto never = nightly.try_acquire({.timeout = holdfast::forever}, shutdown.get_token());

  const bool as_expected = !once && once.error().reason() == holdfast::errc::busy &&  //
                           !soon && soon.error().reason() == holdfast::errc::timed_out && !never &&
                           never.error().reason() == holdfast::errc::cancelled;
  // [snippet end]
  for (const auto* outcome : {&once, &soon, &never}) {
    std::cout << (*outcome ? "held" : outcome->error().what()) << '\n';
  }
  return as_expected ? 0 : 1;
}
