// The description of a holdfast::lock: which lock, how it is written, how it behaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include <holdfast/lock_kind.hpp>

#include "base/lock_key.hpp"
#include "base/time.hpp"
#include "lease/back_off.hpp"
#include "substrate/claim.hpp"

namespace holdfast::dialects {
class foreign_recipe;
class recipe;
}  // namespace holdfast::dialects

namespace holdfast::runtime {

class lock_driver;

// A demand that changes what is held: the only kind of demand that replaces a request.
struct change : substrate::demand {
  std::shared_ptr<lock_driver> held;
};

// The habits of another library that writes the lock, where they differ from Holdfast's.
struct usage {
  bool has_queue = true;      // at the server; otherwise a waiter asks again after `pauses`
  bool is_counted = true;     // its tokens come from the fence counter of its hash slot
  bool draws_tokens = false;  // or from a counter of that library's own
  // It stays locked for a while after its release, or draws a token for each grant.
  bool is_seen = false;
  leasing::pauses pauses = leasing::while_busy;
};

// Immutable; shared by all copies of a lock and by its leases.
struct lock_spec {
  lock_key key;
  // How it is written, for the substrate alone; `foreign`: the same, of another library's lock.
  const dialects::recipe* recipe;
  std::shared_ptr<const dialects::foreign_recipe> foreign{};
  usage usual{};
  std::shared_ptr<const substrate::demand> wants{};  // null where one at a time can have it
  short_milliseconds lease;
  short_milliseconds retain;
  short_milliseconds delay{};  // see mutex_options::lock_delay
  std::uint32_t queue_limit;
  bool renews;
  bool fair;
  bool fenced;
  bool refuses_reentry = false;
  bool recursive = false;
  bool joins = false;    // a reader: those of one client read under one grant, see reader_group
  bool is_gate = false;  // a latch or a barrier: a client that passes holds nothing

  lock_kind kind() const noexcept {
    if (is_gate) return wants ? lock_kind::barrier : lock_kind::latch;
    if (!wants) return lock_kind::mutex;
    return wants->mode == 's' ? lock_kind::semaphore : lock_kind::mode_lock;
  }

  // A lock that this client has may be passed on between its threads without the server. Not where
  // the order of arrival counts, and not where everybody is promised a whole lease, or when several
  // may hold it, or when another library must see each grant.
  bool stays_here() const noexcept { return renews && !fair && is_alone() && !usual.is_seen; }

  // Whether a thread that has it may block for it is looked at.
  bool watches_reentry() const noexcept { return refuses_reentry && is_alone(); }

  // One at a time can have it, and asking for it changes nothing that is held.
  bool is_alone() const noexcept { return !wants || (wants->mode == 'x' && !wants->replaced); }

  // The token of a grant, of which one is drawn by the server and passed on `minor` times since. In
  // another library's layout it is that library's own.
  std::uint64_t token(substrate::token_major major, std::uint32_t minor) const noexcept {
    if (!fenced) return 0;
    return usual.draws_tokens ? major : major * substrate::minors_per_major + minor;
  }

  // The lease that is held until this one is granted in its place, if it is such a lock.
  lock_driver* changes() const noexcept {
    return wants && wants->replaced ? static_cast<const change&>(*wants).held.get() : nullptr;
  }

  // The claim for any substrate.
  substrate::claim claim_of(const request_id& owner, bool waits) const noexcept {
    return {.key = &key,
            .wants = wants.get(),
            .owner = owner,
            .lease = lease,
            .delay = delay,
            .waits = waits,
            .queue_limit = queue_limit};
  }

  // The client keeps it for a while after the last release.
  bool is_retained() const noexcept { return retain > short_milliseconds{0}; }

  friend bool operator==(const lock_spec& a, const lock_spec& b) noexcept {
    const bool same_demand = a.wants && b.wants ? *a.wants == *b.wants : a.wants == b.wants;
    return a.key.name() == b.key.name() && a.recipe == b.recipe && same_demand &&
           a.lease == b.lease && a.retain == b.retain && a.delay == b.delay &&
           a.queue_limit == b.queue_limit && a.renews == b.renews && a.fair == b.fair &&
           a.fenced == b.fenced && a.refuses_reentry == b.refuses_reentry &&
           a.recursive == b.recursive && a.joins == b.joins;
  }
};

}  // namespace holdfast::runtime
