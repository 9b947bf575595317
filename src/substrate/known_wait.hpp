// One blocked thread, as all clients of a key space can know of it.
#pragma once

#include <string>
#include <vector>

namespace holdfast::substrate {

// A lock, and how it is held or wanted: as demand::mode; `x` where one at a time can have it.
struct lock_in_mode {
  char mode = 'x';
  std::string key;  // lock_key::value_key
  friend bool operator==(const lock_in_mode&, const lock_in_mode&) = default;
};

struct held_lock : lock_in_mode {
  std::string request;  // the request that has it
  friend bool operator==(const held_lock&, const held_lock&) = default;
};

// One blocked thread, wherever it is.
struct known_wait {
  std::string id;   // see wait_id
  std::string who;  // host:pid
  lock_in_mode wants;
  std::vector<held_lock> holds;
  friend bool operator==(const known_wait&, const known_wait&) = default;
};

// One wait of a cycle, and the request that has what it waits for: of the next one, and of the
// first for the last.
struct link_of_cycle {
  const known_wait* waits;
  const held_lock* blocked_by;
};

}  // namespace holdfast::substrate
