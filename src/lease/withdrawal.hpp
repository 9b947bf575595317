// The lock or place that the server may hold for an attempt that has not heard of it, and how it is
// given back.
#pragma once

#include <algorithm>
#include <utility>

#include "lease/deadline.hpp"
#include "lease/step.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {

// A client that gives up a granted change becomes what it was; only withdrawing does that.
inline ask way_back(const substrate::claim& from) noexcept {
  const bool changes = from.wants != nullptr && from.wants->replaced;
  return changes ? ask::withdraw : ask::release;
}

class withdrawal {
 public:
  explicit withdrawal(milliseconds response_timeout) noexcept
      : response_timeout_(response_timeout) {}

  // ---- the attempt's requests, one at a time

  bool awaits_answer() const noexcept { return under_way_ != ask::nothing; }
  bool is_under_way() const noexcept { return awaits_answer() && under_way_ != ask::acquire; }
  ask send_acquire(monotonic_time now) noexcept {
    doubtful_until_ = too_late_from(now, response_timeout_);
    return under_way_ = ask::acquire;
  }
  ask send() noexcept { return under_way_ = how_; }
  // Which request was answered, or will never be.
  ask end_request() noexcept { return std::exchange(under_way_, ask::nothing); }
  // The acquire was answered or was never sent, so no copy of it is left.
  void settle(monotonic_time now) noexcept {
    under_way_ = ask::nothing;
    doubtful_until_ = std::min(doubtful_until_, now);
  }

  // No copy of an acquire is executed after this. A release or withdraw is not sent before.
  monotonic_time doubtful_until() const noexcept { return doubtful_until_; }
  monotonic_time executable_until() const noexcept {
    return doubtful_until_ - clock_allowance(response_timeout_);
  }
  // A lock that was granted at the last possible moment has ended by then, whatever we do.
  monotonic_time ends_by_itself_at(const substrate::claim& of) const noexcept {
    const milliseconds kept = substrate::kept_time(of);
    return doubtful_until_ + kept + clock_allowance(kept);
  }

  // ---- what there is to give back

  ask how() const noexcept { return how_; }
  bool is_needed() const noexcept { return maybe_ours_; }
  void need(bool maybe_ours) noexcept { maybe_ours_ = maybe_ours; }
  // The acquire may have been executed unheard.
  void doubt() noexcept {
    proof_is_known_ = proof_is_known_ || maybe_ours_;
    maybe_ours_ = true;
  }
  void take_place(const substrate::queued& where, substrate::claim& of) noexcept {
    const bool has_stood_here = maybe_ours_ || of.ticket != 0;
    proof_is_known_ = proof_is_known_ || (where.is_new && has_stood_here);
    maybe_ours_ = true;
    of.ticket = where.ticket;
  }
  // A grant that is not wanted, or not believed.
  void refuse(const substrate::granted& grant, substrate::claim& of) noexcept {
    of.granted = grant.major;
    how_ = way_back(of);
    maybe_ours_ = true;
  }
  // An answer to an acquire that is not wanted any more.
  void on_unwanted(const substrate::acquire_verdict& verdict, substrate::claim& of,
                   monotonic_time now) noexcept;
  // All is given back, and the attempt goes on.
  void begin_anew(substrate::claim& of) noexcept {
    how_ = ask::withdraw;
    of.granted = 0;
  }
  void give_up() noexcept {
    maybe_ours_ = false;
    unclear_ = true;
  }

  // The request came into the queue again: it may have been told that it had the lock, and others
  // have heard its proof.
  bool is_proof_known() const noexcept { return proof_is_known_; }
  // Nobody has said what has become of it.
  bool is_unclear() const noexcept { return unclear_; }

 private:
  monotonic_time doubtful_until_{};
  short_milliseconds response_timeout_;
  ask under_way_ = ask::nothing;  // sent, and neither answered nor missing
  ask how_ = ask::withdraw;       // perhaps `release` once the grant is known
  bool maybe_ours_ : 1 = false;   // the server may hold the lock or a place for us
  bool unclear_ : 1 = false;
  bool proof_is_known_ : 1 = false;
};

// Only one request at a time: a release follows the answer to the withdraw.
inline void withdrawal::on_unwanted(const substrate::acquire_verdict& verdict, substrate::claim& of,
                                    monotonic_time now) noexcept {
  if (const auto* grant = std::get_if<substrate::granted>(&verdict)) refuse(*grant, of);
  if (is_under_way()) return;
  settle(now);
  if (std::holds_alternative<substrate::busy>(verdict)) maybe_ours_ = false;
  if (std::holds_alternative<substrate::queued>(verdict) ||
      std::holds_alternative<substrate::unfinished>(verdict)) {
    maybe_ours_ = true;  // a place in the queue
  }
}

}  // namespace holdfast::leasing
