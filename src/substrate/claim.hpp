// One attempt to get a lock, as the substrate is asked for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/lock_key.hpp"
#include "base/request_id.hpp"
#include "base/time.hpp"

namespace holdfast::substrate {

// The part of a fencing token that the server draws; token = major * 2048 + minor.
using token_major = std::uint64_t;
inline constexpr std::uint64_t minors_per_major = 2048;

// How a request that waits hears that the lock was handed to it.
enum class wakeup_way : std::uint8_t {
  channel,  // on its client's channel
  poll,     // not at all: it asks often
};

// The kinds of requests that share a queue and its messages.
enum class family : std::uint8_t { none, mutex, several, latch, barrier };

// How a lock is wanted that several may hold together.
struct demand {
  char mode = 'x';           // one of ncdrpxu (shared/parts/fits.lua), or s: permits
  std::uint32_t weight = 1;  // how many permits
  std::uint32_t limit = 0;   // how many there are
  // The lease in whose place it comes: its holder changes that into this.
  std::optional<request_id> replaced{};
  friend bool operator==(const demand&, const demand&) = default;
};

// One attempt to get a lock, and later the grant that came of it.
struct claim {
  const lock_key* key = nullptr;  // outlives the claim
  const demand* wants = nullptr;  // the same; null where one at a time can have it
  request_id owner;
  milliseconds lease{};
  short_milliseconds delay{};  // the server keeps it so much longer than we count on
  // The time left of the lease that this one is to replace: extend() may have made that longer.
  short_milliseconds replaced_lease{};
  token_major floor = 0;    // the largest major this client knows for the slot
  token_major granted = 0;  // once granted: the major of the grant (0: a plain SET, no token)
  // Of those who wait:
  bool waits = false;  // joins the queue when the lock is not free
  wakeup_way way = wakeup_way::channel;
  bool forsakes = false;  // the lease that this was to replace is not held any more
  std::uint32_t queue_limit = std::numeric_limits<std::uint32_t>::max();  // no more may wait
  std::uint64_t ticket = 0;  // of the place in the queue that it has or had; 0: none
  // Stands in the queue and nowhere else, and in the message of the grant: see handed_over.
  std::uint64_t proof = 0;
};

// For how long a provisional grant lasts, unless the waiter confirms it.
inline constexpr milliseconds longest_claim{1000};
inline constexpr milliseconds polling_claim{250};
constexpr milliseconds claim_time(const claim& c) noexcept {
  return std::min(c.lease, c.way == wakeup_way::poll ? polling_claim : longest_claim);
}

// How long the server keeps a lock that is renewed now.
constexpr milliseconds kept_time(const claim& c) noexcept { return c.lease + c.delay; }

// The longest lease that the server can have in force for this claim, by the requests so far.
constexpr milliseconds asked_time(const claim& c) noexcept {
  return std::max<milliseconds>(c.lease, c.replaced_lease);
}

}  // namespace holdfast::substrate
