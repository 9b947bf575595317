// How one kind of lock is written in Redis: intent to command, reply to verdict. Pure, stateless,
// shared by all threads. Knows no time but what it is given, no socket, no state between calls.
#pragma once

#include <cstddef>
#include <span>

#include "base/time.hpp"
#include "redis/resp/value.hpp"
#include "redis/resp/writer.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::dialects {

// The words of locks, which every recipe uses.
using substrate::acquire_verdict;
using substrate::busy;
using substrate::claim;
using substrate::claim_time;
using substrate::demand;
using substrate::family;
using substrate::granted;
using substrate::kept_time;
using substrate::late;
using substrate::longest_claim;
using substrate::minors_per_major;
using substrate::not_mine;
using substrate::not_undone;
using substrate::polling_claim;
using substrate::queued;
using substrate::refused;
using substrate::release_verdict;
using substrate::released;
using substrate::renew_verdict;
using substrate::renewed;
using substrate::token_major;
using substrate::unfinished;
using substrate::wakeup_way;

class recipe {
 public:
  virtual ~recipe() = default;

  // The queue in which its requests stand; none: they hear no messages of grants.
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
  // As above, by the lock's own key alone, where there is such a form: one node has that, also
  // while the keys are divided. No waiter is notified.
  virtual void write_lone_release(const claim& held, resp::writer& out) const {
    write_release(held, out);
  }
  // Leaves the queue, and gives back what may have been granted meanwhile or unheard: where
  // `granted` says which grant that is, no other.
  virtual void write_withdraw(const claim&, resp::writer&) const = 0;
  virtual release_verdict read_release(const resp::value&) const = 0;
};

}  // namespace holdfast::dialects
