// Reads from the server the state of locks in the holdfast layout, and breaks one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "base/lock_key.hpp"
#include "inspection/key_scan.hpp"
#include "inspection/lock_names.hpp"
#include "inspection/registry.hpp"
#include "inspection/survey.hpp"
#include "redis/calls/inquiry.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// Throws failure when the server cannot be asked.
lock_status status_of(runtime::client_core& core, const lock_key& key, known_clients& known,
                      const redis_locks::bound& within = {});

// Takes the lock from all who have it: their state. Throws failure also when it is no lock.
lock_status break_native(runtime::client_core& core, const lock_key& key);

// Those of the locks with some names that are held or shut. A name says little: an index names
// locks that are free by now, and a key may hold something else. Thread safety: one thread.
class shown_locks {
 public:
  // `options` must outlive it.
  shown_locks(runtime::client_core& core, survey& over, const list_options& options)
      : survey_(over),
        options_(options),
        core_(core),
        asked_(core, until_stopped(options)),
        known_(core, until_stopped(options)) {}

  // Looks at those that were not taken before, until it has more than `most`. Then it has one too
  // many, which proves that there are more. Notes locks that cannot be looked at. Throws failure
  // when it is to stop.
  void look_at(lock_names& names, std::size_t most);
  // As above, when there could be more than `most`, so that a search can end early. True: there
  // are.
  bool are_more_than(std::size_t most, lock_names& names);

  std::vector<lock_status>& all() noexcept { return locks_; }

 private:
  void look_at(std::span<const std::string> names);

  survey& survey_;
  const list_options& options_;
  runtime::client_core& core_;
  calls::inquiry asked_;
  known_clients known_;
  std::vector<lock_status> locks_;
};

// Sorts what was found, and shows no more than may be shown.
void finish(lock_listing& listing, const list_options& options, survey& over);

}  // namespace holdfast::inspection
