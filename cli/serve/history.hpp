// Changes of locks, found by comparing each look with the one before.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/inspector.hpp>

#include "cli/serve/look.hpp"

namespace holdfast::cli {

struct lock_event {
  std::string name{};  // of the lock
  look::time_point at{};
  const char* what = "";  // "held", "free", "changed hands", "waiters"
  holder owner{};
  fencing_token token{};
};

// The last events of all locks of a server together.
//
// Thread safety: one thread at a time.
class history {
 public:
  explicit history(std::size_t most = 20'000) : most_(most) {}

  // A lock that is not in the later look has become free only if that look has seen each lock.
  void compare(const look& before, const look& after);

  std::vector<lock_event> of(std::string_view name, std::size_t most = 100) const;  // newest first

 private:
  void add(const look& when, const lock_status& lock, const char* what);
  void compare(const lock_status& before, const lock_status& after, const look& when);

  const std::size_t most_;
  std::deque<lock_event> all_;
};

}  // namespace holdfast::cli
