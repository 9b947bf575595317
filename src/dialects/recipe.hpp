// How one kind of lock is written in Redis: intent to command, reply to verdict. Pure, stateless,
// shared by all threads. Knows no time but what it is given, no socket, no state between calls.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include <holdfast/errc.hpp>
#include <holdfast/fencing_token.hpp>

#include "base/lock_key.hpp"
#include "base/request_id.hpp"
#include "base/time.hpp"
#include "resp/value.hpp"
#include "resp/writer.hpp"

namespace holdfast::dialects {

// The part of a fencing token that the server draws; token = major * 2048 + minor.
using token_major = std::uint64_t;
inline constexpr std::uint64_t minors_per_major = 2048;

// How a request that waits hears that the lock was handed to it.
enum class wakeup_way : std::uint8_t {
  channel,  // on its client's channel
  poll,     // not at all: it asks often
};

// Whose queue a queue is, and of what a message tells: kinds that go together in one.
enum class family : std::uint8_t { none, mutex, several, latch, barrier };

// How a lock is wanted that several may hold together.
struct demand {
  char mode = 'x';           // one of ncdrpxu (shared/parts/fits.lua), or s: permits
  std::uint32_t weight = 1;  // how many permits
  std::uint32_t limit = 0;   // how many there are
  // The holder in whose place it comes: he changes what he has into this.
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
  // What was left of the lease that this one is to replace: extend() may have made that longer.
  short_milliseconds replaced_lease{};
  token_major floor = 0;    // the largest major this client knows for the slot
  token_major granted = 0;  // once granted: the major of the grant (0: a plain SET, no token)
  // Of those who wait:
  bool waits = false;  // joins the queue when the lock is not free
  wakeup_way way = wakeup_way::channel;
  bool forsakes = false;  // what this was to replace is not held any more
  std::uint32_t queue_limit = std::numeric_limits<std::uint32_t>::max();  // no more may wait
  std::uint64_t ticket = 0;  // of the place in the queue that it has or had; 0: none
  // Stands in the queue and nowhere else, and in the message of the grant: see handed_over.
  std::uint64_t proof = 0;
};

// For how long a lock that is handed to a waiter is his until he has said more.
inline constexpr milliseconds longest_claim{1000};
inline constexpr milliseconds polling_claim{250};
constexpr milliseconds claim_time(const claim& c) noexcept {
  return std::min(c.lease, c.way == wakeup_way::poll ? polling_claim : longest_claim);
}

// How long the server keeps a lock that is renewed now.
constexpr milliseconds kept_time(const claim& c) noexcept { return c.lease + c.delay; }

// The longest lease that the server can have in force for this claim, by what was asked of it.
constexpr milliseconds asked_time(const claim& c) noexcept {
  return std::max<milliseconds>(c.lease, c.replaced_lease);
}

// Acquire.
struct granted {
  token_major major = 0;
  milliseconds ttl{};     // that we may count on, from when the request was sent
  bool for_good = false;  // nothing is held that could end: an open gate
  friend bool operator==(const granted&, const granted&) = default;
};
struct busy {
  std::optional<milliseconds> remaining;  // of the present holder, if the answer tells
  friend bool operator==(const busy&, const busy&) = default;
};
// Busy, and the request waits in the queue.
struct queued {
  std::uint64_t place = 0;  // how many are before it
  milliseconds remaining{};
  std::uint64_t ticket = 0;
  server_time now;
  bool is_new = false;  // until now the request had no place
  friend bool operator==(const queued&, const queued&) = default;
};
// So many of those who waited are gone that the script stopped looking: ask again at once.
struct unfinished {
  friend bool operator==(const unfinished&, const unfinished&) = default;
};
// The request reached the server after its not-after: refused. Carries the server's time.
struct late {
  server_time now;
  friend bool operator==(const late&, const late&) = default;
};
struct refused {
  errc code = errc::server_error;
  bool passing = false;
  std::string detail;
  bool divided = false;  // the slot is being moved: the lock's keys are at two nodes of a cluster
  friend bool operator==(const refused&, const refused&) = default;
};
using acquire_verdict = std::variant<granted, busy, queued, unfinished, late, refused>;

// Renew and extend.
struct renewed {
  milliseconds ttl{};
  friend bool operator==(const renewed&, const renewed&) = default;
};
struct not_mine {
  friend bool operator==(const not_mine&, const not_mine&) = default;
};
using renew_verdict = std::variant<renewed, not_mine, late, refused>;

// Release and withdraw.
struct released {
  friend bool operator==(const released&, const released&) = default;
};
// A change of what is held was granted, and cannot be undone: others have come in that do not go
// together with what was held before. Nothing is given back until its holder knows.
struct not_undone {
  friend bool operator==(const not_undone&, const not_undone&) = default;
};
using release_verdict = std::variant<released, not_mine, unfinished, not_undone, refused>;

class recipe {
 public:
  virtual ~recipe() = default;

  // Whose queue its requests stand in; none: they hear no messages of grants.
  virtual family queue_family() const noexcept { return family::none; }

  // Asks for the lock. `resend`: something of this request was sent before.
  // The server refuses it after `not_after`.
  virtual void write_acquire(const claim&, bool resend, server_time not_after,
                             resp::writer&) const = 0;
  virtual acquire_verdict read_acquire(const claim&, const resp::value&) const = 0;

  // Renews up to `renew_batch` claims in one command (all on one hash slot where that matters).
  // PX is never shortened. Verdict i belongs to claims[i].
  static constexpr std::size_t renew_batch = 100;
  virtual void write_renew(std::span<const claim* const>, server_time not_after,
                           resp::writer&) const = 0;
  virtual renew_verdict read_renew(const resp::value&, std::size_t index) const = 0;

  // Gives the lock back if it is ours (by token and owner).
  virtual void write_release(const claim&, resp::writer&) const = 0;
  // The same by the lock's own key alone, where there is such a form: one node has that, also while
  // the keys are divided. Nobody who waits is told.
  virtual void write_lone_release(const claim& held, resp::writer& out) const {
    write_release(held, out);
  }
  // Leaves the queue, and gives back what may have been granted meanwhile or unheard: where
  // `granted` says which grant that is, no other.
  virtual void write_withdraw(const claim&, resp::writer&) const = 0;
  virtual release_verdict read_release(const resp::value&) const = 0;
};

}  // namespace holdfast::dialects
