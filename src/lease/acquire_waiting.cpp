// An attempt that stands in the queue: its place, and the message that its turn has come.
#include <algorithm>
#include <utility>

#include "lease/acquire_machine.hpp"
#include "lease/deadline.hpp"
#include "lease/waiting_times.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {
namespace {

constexpr milliseconds ask_jitter{10};

}  // namespace

// It has a place in the queue, which must be given up should it leave.
step acquire_machine::on_queued(const substrate::queued& where, monotonic_time now) {
  const bool has_stood_here = maybe_ours_ || claim_->ticket != 0;
  proof_is_known_ = proof_is_known_ || (where.is_new && has_stood_here);
  maybe_ours_ = true;
  claim_->ticket = where.ticket;
  remember(answer::busy, {});
  const auto heard = std::exchange(kept_, nullptr);
  step next;
  if (is_over(now)) {
    next = tell_patience_is_over(now);
  } else if (heard && heard->position >= answered_at_) {
    state_ = state::waiting;
    asks_at_ = now + until_turn(where);
    next = judge(*heard, now);
  } else if (woken_) {
    next = ask_for_it(now);
  } else if (claim_->way == substrate::wakeup_way::poll) {
    next = wait(std::min<nanoseconds>(retries_.next(while_busy_), until_turn(where)), now);
  } else {
    next = wait(until_turn(where) + retries_.up_to(ask_jitter), now);
  }
  next.learned = where.now;
  return next;
}

step acquire_machine::on_handed_over(const substrate::granted& grant, monotonic_time granted_at,
                                     monotonic_time now, std::uint64_t position) {
  return hear({position, now, grant, granted_at}, now);
}

step acquire_machine::on_first_in_line(nanoseconds owner_has, monotonic_time now,
                                       std::uint64_t position) {
  const auto whole = std::chrono::ceil<milliseconds>(owner_has);
  return hear({position, now, {.ttl = whole}, {}}, now);
}

// On several threads an answer may be heard after what was said later. What was said before it is
// obsolete, as when a grant was lost with the server's memory and the request waits again.
step acquire_machine::hear(const message& said, monotonic_time now) {
  if (state_ == state::asking) kept_ = std::make_unique<const message>(said);
  if (state_ != state::waiting || said.position < answered_at_) return {};
  return judge(said, now);
}

// A message whose proof others may have heard, one that was long under way, or an old one, or one
// whose time says that the server's clock was set, proves nothing: the answer to a question does.
step acquire_machine::judge(const message& said, monotonic_time now) {
  if (is_over(now)) return tell_patience_is_over(now);
  const auto major = said.grant.major;
  const auto ttl = said.grant.ttl;
  if (major == 0) {
    const auto asks_at = said.heard_at + std::min(ttl, ask_bound(0)) + retries_.up_to(ask_jitter);
    return wait(std::min(asks_at, asks_at_) - now, now);
  }
  const monotonic_time deadline = deadline_of(said.grant, said.granted_at);
  const bool is_new = major > std::max(claim_->floor, claim_->granted);
  const bool agrees =
      said.granted_at <= said.heard_at && said.heard_at - said.granted_at <= ttl / 2;
  const bool is_believed = is_new && agrees && !proof_is_known_;
  if (!is_believed || now >= deadline) return ask_for_it(now);
  claim_->granted = major;
  step next = hold(said.grant, said.granted_at, deadline);
  next.done->by_message = true;
  return next;
}

step acquire_machine::hold(const substrate::granted& grant, monotonic_time granted_at,
                           monotonic_time deadline) {
  state_ = state::done;
  told_ = true;
  return {.done = acquire_outcome{.grant = grant, .granted_at = granted_at, .deadline = deadline},
          .finished = true};
}

step acquire_machine::on_deaf(monotonic_time now) {
  deaf_ = true;
  return on_woken(now);
}

}  // namespace holdfast::leasing
