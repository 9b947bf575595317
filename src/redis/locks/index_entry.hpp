// When the index of held locks is told of one lock.
#pragma once

#include "base/time.hpp"
#include "redis/dialects/recipe.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

class redis_engine;

// Of a lease, or of a gate with a waiter. Another library's locks are not in the index. Under the
// mutex of its owner.
class index_entry {
 public:
  void begin(redis_engine& of, const lock_spec& spec, monotonic_time granted_at);
  // No later than this it must be called again.
  monotonic_time due_at() const noexcept { return due_at_; }
  // `held`: for so long at most.
  void note_when_due(redis_engine& of, const lock_spec& spec, nanoseconds held, monotonic_time now);
  void note_gate_when_due(redis_engine& of, const lock_spec& spec, monotonic_time now);
  // The server may not know of it, or not for how long.
  void note_soon(const lock_spec& spec, monotonic_time now) noexcept;
  void end(redis_engine& of, const lock_spec& spec, monotonic_time now);

 private:
  monotonic_time due_at_{};
};

}  // namespace holdfast::redis_locks
