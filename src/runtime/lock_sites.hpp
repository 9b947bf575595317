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
class lock_site;

// Locks of one name that behave differently are different here; they meet at the server.
// Thread safety: all members from any thread.
class lock_sites {
 public:
  std::shared_ptr<lock_site> find_or_make(engine& owner, lock_spec spec) HOLDFAST_EXCLUDES(mutex_);
  void remove(lock_site& leaving) noexcept HOLDFAST_EXCLUDES(mutex_);

  // Gives back what is only kept.
  void revoke_all() HOLDFAST_EXCLUDES(mutex_);

  // Whoever wants a lock of this name from now on gets a major above that.
  void raise_floor(std::string_view name, substrate::token_major seen) HOLDFAST_EXCLUDES(mutex_);

 private:
  struct hash {
    using is_transparent = void;
    std::size_t operator()(const lock_spec& spec) const noexcept;
    std::size_t operator()(const lock_site* site) const noexcept;
  };
  struct equal {
    using is_transparent = void;
    bool operator()(const lock_site* a, const lock_site* b) const noexcept;
    bool operator()(const lock_site* a, const lock_spec& b) const noexcept;
    bool operator()(const lock_spec& a, const lock_site* b) const noexcept;
  };

  std::vector<std::shared_ptr<lock_site>> alive() HOLDFAST_EXCLUDES(mutex_);

  mutex mutex_;
  std::unordered_set<lock_site*, hash, equal> sites_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::runtime
