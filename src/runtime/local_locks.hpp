// All locks that a client knows, so that handles of the same lock share it.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/mutex.hpp"
#include "runtime/lock_spec.hpp"

namespace holdfast::runtime {

class engine;
class local_lock;

// Locks of one name that behave differently are different here; they meet at the server.
// Thread safety: all members from any thread.
class local_locks {
 public:
  std::shared_ptr<local_lock> find_or_make(engine& owner, lock_spec spec) HOLDFAST_EXCLUDES(mutex_);
  void remove(local_lock& leaving) noexcept HOLDFAST_EXCLUDES(mutex_);

  // Gives back retained locks.
  void revoke_all() HOLDFAST_EXCLUDES(mutex_);

  // From now on grants of a lock of this name have a major above that.
  void raise_floor(std::string_view name, substrate::token_major seen) HOLDFAST_EXCLUDES(mutex_);

 private:
  struct hash {
    using is_transparent = void;
    std::size_t operator()(const lock_spec& spec) const noexcept;
    std::size_t operator()(const local_lock* local) const noexcept;
  };
  struct equal {
    using is_transparent = void;
    bool operator()(const local_lock* a, const local_lock* b) const noexcept;
    bool operator()(const local_lock* a, const lock_spec& b) const noexcept;
    bool operator()(const lock_spec& a, const local_lock* b) const noexcept;
  };

  std::vector<std::shared_ptr<local_lock>> alive() HOLDFAST_EXCLUDES(mutex_);

  mutex mutex_;
  std::unordered_set<local_lock*, hash, equal> locals_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::runtime
