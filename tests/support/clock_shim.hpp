// Setting the wall clock of one server.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "embedded/directories.hpp"
#include "support/private_server.hpp"

namespace holdfast::support {

// Must live as long as the server:
//   clock_shim clock;
//   private_server server({.environment = clock.environment()});
//   clock.set(-5s);
class clock_shim {
 public:
  clock_shim();
  ~clock_shim();
  clock_shim(const clock_shim&) = delete;
  clock_shim& operator=(const clock_shim&) = delete;

  std::vector<std::string> environment() const;

  // From now on the server's wall clock is the machine's plus this. A server may cache its time for
  // the current command or timer tick.
  void set(nanoseconds ahead) noexcept;
  // Returns once the server tells such a time: Valkey 9 looks at the wall clock now and then only,
  // and counts on from there.
  void set(nanoseconds ahead, const private_server& server);
  // It stands still at this time since 1970, which is not 0, until it is set.
  void stop_at(nanoseconds wall_time) noexcept;

 private:
  struct shown {  // as in clock_shim.c
    std::atomic<std::int64_t> ahead{0};
    std::atomic<std::int64_t> stopped_at{0};
  };

  embedded::private_directory directory_;
  std::string file_;
  shown* shown_;  // in the file, mapped
};

}  // namespace holdfast::support
