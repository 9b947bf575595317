// Running a function under a lock: what a lock annotation on a method is elsewhere.
#include <iostream>
#include <stdexcept>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  const auto job = redis.mutex("job");

  const int rows = holdfast::run_while_held(job, [](const holdfast::lease& held) {
    std::cout << "running '" << held.name() << "' under the lock\n";
    return 42;
  });

  try {
    holdfast::run_while_held(job, [] { throw std::runtime_error("no disk"); });
  } catch (const std::runtime_error& why) {
    std::cout << "failed: " << why.what() << ", and released\n";
  }
  const bool free = job.try_acquire().has_value();
  std::cout << rows << " rows, the lock is " << (free ? "free" : "held") << '\n';
  return rows == 42 && free ? 0 : 1;
}
