#include "cli/demo/stage.hpp"

#include <poll.h>

#include <exception>
#include <string>

#include "cli/output.hpp"

namespace holdfast::cli::demo {

clean_up::~clean_up() {
  try {
    removal_();
  } catch (const std::exception& error) {
    note({}, "keys_left",
         "the keys of the demo could not be removed: " + std::string(error.what()));
  }
}

void pause_unless_interrupted(signal_watch& signals) {
  constexpr int look_every_ms = 5;
  pollfd watched{signals.fd(), POLLIN, 0};
  ::poll(&watched, 1, look_every_ms);
  if (const auto signal = signals.next_that_ends()) throw interrupted{*signal};
}

}  // namespace holdfast::cli::demo
