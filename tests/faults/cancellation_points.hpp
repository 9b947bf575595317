// Where a thread that was cancelled (pthread_cancel) would end.
#pragma once

#include <set>
#include <string>

namespace holdfast::faults {

// While one exists, the calls of its thread are noted that are cancellation points, unless the
// thread has put off being cancelled. Sees the calls of this program and of its libraries, but not
// those inside libc. Sees nothing under a sanitizer, which has its own versions of these calls.
// Thread safety: belongs to the thread that made it; one at a time.
class cancellation_watch {
 public:
  cancellation_watch() noexcept;
  ~cancellation_watch();
  cancellation_watch(const cancellation_watch&) = delete;
  cancellation_watch& operator=(const cancellation_watch&) = delete;

  // What was noted, of all threads since the program began.
  static std::set<std::string> seen();
  // How many cancellation points watched threads have reached, also while it was put off.
  static unsigned long reached() noexcept;
};

}  // namespace holdfast::faults
