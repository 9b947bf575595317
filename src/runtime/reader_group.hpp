// Readers of one client that read under one grant of the server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.hpp"
#include "base/time.hpp"
#include "lease/reader_turns.hpp"
#include "runtime/holding.hpp"
#include "runtime/lock_spec.hpp"

namespace holdfast::runtime {

class engine;

// Drives the turns of readers: makes what each of them holds, and tells them of a loss.
//
// Thread safety: all members from any thread. Calls drivers under its mutex, and they never call it
// under theirs.
class reader_group {
 public:
  // `spec` outlives this.
  reader_group(engine& owner, const lock_spec& spec)
      : engine_(owner), spec_(spec), turns_(spec.lease) {}

  // Nothing: there are none that it could join.
  std::optional<grant> join() HOLDFAST_EXCLUDES(mutex_);

  // The server has granted it to one of them. Where this throws, it is none of those here.
  grant obtained(std::shared_ptr<lock_driver> by) HOLDFAST_EXCLUDES(mutex_);

  // This one asks the server for all from now on; and was it that one, until now?
  void asks(const lock_driver& who) HOLDFAST_EXCLUDES(mutex_);
  bool has_asked(const lock_driver& who) HOLDFAST_EXCLUDES(mutex_);

  // Nobody joins those that read under no larger major.
  void raise_floor(substrate::token_major seen) HOLDFAST_EXCLUDES(mutex_);

  // All that read under it are told.
  void lost(const lock_driver& what) HOLDFAST_EXCLUDES(mutex_);

 private:
  class reading;
  // One grant of the server, and those that read under it.
  struct share : leasing::reader_turns::share {
    std::shared_ptr<lock_driver> of;
    std::vector<reading*> listening{};  // those that want to hear of a loss
  };

  grant admitted(const share& to, std::uint32_t minor, std::shared_ptr<reading> who) const;
  // The lock to give back, if that was the last reader.
  std::shared_ptr<lock_driver> leave(share& from, const reading& who) HOLDFAST_EXCLUDES(mutex_);

  engine& engine_;
  const lock_spec& spec_;
  mutex mutex_;
  leasing::reader_turns turns_ HOLDFAST_GUARDED_BY(mutex_);
  // With readers, oldest first: only the last one can be joined.
  std::vector<std::shared_ptr<share>> all_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::runtime
