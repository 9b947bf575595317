#include "simulation/promises.hpp"

#include <algorithm>
#include <utility>

#include "lease/waiting_times.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

// L1: who was the first in the queue when last told, one round trip after he asked, knows when the
// lease ends, and asks then: a jitter of 10 ms, one way, and a hundredth of the 2 s since he was
// told. (When another was granted the lock meanwhile, he may not have heard of it.)
constexpr nanoseconds round_trip = 4ms;
constexpr nanoseconds prompt = 10ms + round_trip + 20ms;
// L2: on top of the time for which a waiter may stay silent, since his clock may be slow.
constexpr nanoseconds slack = 100ms;

}  // namespace

promises::promises(const kind& of, const lock_key& key, simulated_server& server)
    : kind_(of), key_(key), server_(server) {}

const holder* promises::find(std::string_view owner) const {
  const auto found = std::ranges::find(holders_, owner, &holder::owner);
  return found == holders_.end() ? nullptr : &*found;
}

monotonic_time promises::granted_at(dialects::token_major token) const {
  const auto found = grants_.find(token);
  return found == grants_.end() ? monotonic_time::min() : found->second;
}

void promises::became_free(monotonic_time when, bool by_expiry) {
  if (free_since_) return;
  free_since_ = when;
  freed_by_expiry_ = by_expiry;
}

void promises::executed(monotonic_time now) {
  if (now > expires_at_) became_free(expires_at_, true);
  std::swap(holders_, before_);
  kind_.holders(server_, key_, holders_);
  highest_ = std::max(highest_, server_.now());
  for (const auto& one : holders_) {
    const auto same = [&](const holder& h) { return h.token == one.token && h.owner == one.owner; };
    if (std::ranges::any_of(before_, same)) continue;
    if (std::exchange(counter_lost_, false) && server_.now() < highest_) newest_ = 0;
    if (one.token <= newest_) {
      violated("S2: token " + std::to_string(one.token) + " is not above the last");
    }
    newest_ = std::max(newest_, one.token);
    grants_[one.token] = granted_last_at_ = now;
  }
  if (holders_.empty()) {
    became_free(now, false);
    expires_at_ = monotonic_time::max();
  } else {
    free_since_.reset();
    expires_at_ = now + std::ranges::max(holders_, {}, &holder::remaining).remaining;
  }
}

void promises::gave_back(monotonic_time) {
  if (holders_.empty() && kind_.waiting(server_, key_) > 0) {
    violated("L2: the lock was given back to nobody although somebody waits");
  }
}

void promises::emptied(monotonic_time now) {
  counter_lost_ = true;
  disrupted_at_ = now;
  freed_by_expiry_ = false;
  executed(now);
}

void promises::clock_set(monotonic_time now, microseconds by) {
  clock_set_at_ = now;
  if (by > 0us) disrupted_at_ = now;
  if (by < 0us) stepped_back_ = true;
  if (now > expires_at_) became_free(expires_at_, true);
  executed(now);
}

void promises::believed(const belief& what, monotonic_time now) {
  if (is_disrupted_since(what.evidence)) return;
  kind_.holders(server_, key_, holders_);
  const auto* const there = find(what.owner);
  if (there == nullptr || there->token != what.token) {
    return violated("S3: somebody believes in a lease that the server does not know");
  }
  const nanoseconds too_long = what.deadline - (now + there->remaining);
  if (too_long > 0ns) {
    violated("S3: held for " + std::to_string(std::chrono::ceil<microseconds>(too_long).count()) +
             " us longer than at the server");
  }
}

void promises::share(const belief& one, const dialects::demand* wants_one, const belief& other,
                     const dialects::demand* wants_other) {
  if (kind_.may_share(wants_one, wants_other)) return;
  if (is_disrupted_since(std::min(one.evidence, other.evidence))) return;
  violated("S1: two believe that they hold, with the tokens " + std::to_string(one.token) +
           " and " + std::to_string(other.token));
}

void promises::left(std::string_view owner) {
  kind_.holders(server_, key_, holders_);
  if (find(owner) != nullptr && !stepped_back_) {
    violated("I11: a request has ended, and the lock was left to it");
  }
}

void promises::late_copy_executed() {
  if (!stepped_back_) violated("I11: a copy was executed of a request that had ended");
}

void promises::waits(const place& where, monotonic_time now) {
  contended_ = true;
  if (!free_since_ && now > expires_at_) became_free(expires_at_, true);
  if (!free_since_) return;
  const bool undisturbed = freed_by_expiry_ && where.before == 0 &&
                           where.told_at - where.asked_at <= round_trip &&
                           granted_last_at_ < where.asked_at &&
                           !is_disrupted_since(where.asked_at) && !is_set_since(where.asked_at);
  const nanoseconds bound = undisturbed ? prompt : leasing::ask_bound(where.before) + slack;
  if (now - std::max(*free_since_, where.told_at) <= bound) return;
  violated(undisturbed ? "L1: the lock is free, and the first who waits does not know it"
                       : "L2: the lock is free, and somebody waits");
}

void promises::violated(const std::string& what) {
  if (violation_.empty()) violation_ = what;
}

}  // namespace holdfast::simulation
