// Readers of one client who read under one grant of the server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.hpp"
#include "base/time.hpp"
#include "runtime/holding.hpp"
#include "runtime/lock_spec.hpp"

namespace holdfast::runtime {

class engine;

// A reader who comes while others of this client read joins them, and the server hears nothing of
// it. His token is theirs with the next minor: above that of every earlier writer, below that of
// every later one.
//
// Writers may be waiting meanwhile. So after a turn the next who comes asks the server, where he
// stands behind them; the others go on joining until he has his answer, or for another turn.
//
// Thread safety: all members from any thread. Calls tenures under its mutex, and they never call it
// under theirs.
class reader_group {
 public:
  // `spec` outlives this.
  reader_group(engine& owner, const lock_spec& spec) : engine_(owner), spec_(spec) {}

  // Nothing: nobody reads whom he could join.
  std::optional<grant> join() HOLDFAST_EXCLUDES(mutex_);

  // The server has granted it to one of us. Where this throws, it is none of those here.
  grant obtained(std::shared_ptr<tenure> by) HOLDFAST_EXCLUDES(mutex_);

  // This one asks the server for all of us from now on; and is it he who did, until now?
  void asks(const tenure& who) HOLDFAST_EXCLUDES(mutex_);
  bool has_asked(const tenure& who) HOLDFAST_EXCLUDES(mutex_);

  // Nobody joins those who read under no larger major.
  void raise_floor(dialects::token_major seen) HOLDFAST_EXCLUDES(mutex_);

  // All who read under it are told.
  void lost(const tenure& what) HOLDFAST_EXCLUDES(mutex_);

 private:
  class reading;
  // What the server has granted, and who reads under it.
  struct share {
    std::shared_ptr<tenure> of;
    std::uint32_t readers = 0;
    std::uint32_t minor = 0;
    std::vector<reading*> listening{};  // those who want to hear of a loss
  };

  bool may_join(monotonic_time now) const HOLDFAST_REQUIRES(mutex_);
  grant admit(share& to, std::shared_ptr<reading> who) HOLDFAST_REQUIRES(mutex_);
  // True: he was the last, and the tenure must go back.
  bool leave(share& from, const reading& who) HOLDFAST_EXCLUDES(mutex_);

  engine& engine_;
  const lock_spec& spec_;
  mutex mutex_;
  std::shared_ptr<share> current_ HOLDFAST_GUARDED_BY(mutex_);           // that can be joined
  std::vector<std::shared_ptr<share>> all_ HOLDFAST_GUARDED_BY(mutex_);  // under which some read
  dialects::token_major floor_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  monotonic_time turn_ends_ HOLDFAST_GUARDED_BY(mutex_){};
  const tenure* asker_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace holdfast::runtime
