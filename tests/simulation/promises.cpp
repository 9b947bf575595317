#include "simulation/promises.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "lease/waiting_times.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

// L1: who was told his place in the queue, within one round trip, knows when the lease ends, and
// asks then, after those before him, should they be dead: a jitter of 10 ms, one way, and a
// hundredth of the time since he was told.
constexpr nanoseconds round_trip = 4ms;
constexpr nanoseconds prompt_for(std::uint64_t before) {
  return 10ms + round_trip + leasing::ask_bound(before) / 100 +
         20ms * static_cast<milliseconds::rep>(before);
}
constexpr nanoseconds prompt = prompt_for(0);
// L2: on top of the time for which a waiter may stay silent, since his clock may be slow.
constexpr nanoseconds slack = 100ms;

}  // namespace

promises::promises(const kind& of, const lock_key& key, simulated_server& server)
    : kind_(of), key_(key), server_(server) {}

const holder* promises::find(std::string_view owner) const {
  const auto found = std::ranges::find(holders_, owner, &holder::owner);
  return found == holders_.end() ? nullptr : &*found;
}

const holder* promises::find_heir(std::string_view owner) const {
  if (const auto* const there = find(owner)) return there;
  const auto found = std::ranges::find(holders_, owner, &holder::was);
  return found == holders_.end() ? nullptr : &*found;
}

monotonic_time promises::granted_at(dialects::token_major token) const {
  const auto found = grants_.find(token);
  return found == grants_.end() ? monotonic_time::min() : found->second.at;
}

void promises::became_free(monotonic_time when, bool by_expiry) {
  if (free_since_) return;
  free_since_ = when;
  freed_by_expiry_ = by_expiry;
}

// How long until the first in the queue may come in, should nobody do anything; nothing: for ever.
// Where nobody waits, until nobody has the lock.
std::optional<microseconds> promises::opens_in() {
  const bool waits = !queue_.empty();
  std::vector<const holder*> in_the_way;
  for (const auto& one : holders_) {
    if (!waits || one.owner != queue_.front().replaces) in_the_way.push_back(&one);
  }
  std::ranges::sort(in_the_way, {}, &holder::remaining);
  microseconds after{};
  for (std::size_t gone = 0;; ++gone) {
    shares_.clear();
    if (waits) shares_.push_back(queue_.front().wants);
    for (auto i = gone; i < in_the_way.size(); ++i) shares_.push_back(in_the_way[i]->has);
    if (waits ? go_together(shares_, limit_) : shares_.empty()) return after;
    if (gone == in_the_way.size()) return std::nullopt;
    after = in_the_way[gone]->remaining;
  }
}

// Also who gives up a change that was granted, and becomes what he was. A server that was emptied
// may give the same token to the same request once more: that is a grant of its own.
bool promises::is_known(const holder& one) const {
  const auto found = grants_.find(one.token);
  return found != grants_.end() && found->second.owner == one.owner &&
         found->second.at >= emptied_at_;
}

// Who has asked before may come back to his place, and after the clock was set back have another.
void promises::check_order(const holder& served) {
  if (served.has.mode == 'n' || !served.was.empty()) return;
  const auto found = tickets_.find(served.owner);
  for (const auto& one : queue_before_) {
    if (one.owner == served.owner) return;
    if (found != tickets_.end() && found->second <= one.ticket) return;
    if (std::ranges::find(queue_, one.owner, &waiter::owner) != queue_.end()) {
      return violated("O: one was served before another who stood before him");
    }
  }
}

// In two ways, for example: as one who hears messages, and as one who polls.
void promises::check_places() {
  std::unordered_set<std::string_view> seen;
  for (const auto& one : queue_) {
    if (!seen.insert(one.owner).second && !stepped_back_) {
      violated("O2: one stands in the queue twice");
    }
  }
}

void promises::granted(const holder& one, monotonic_time now) {
  if (std::exchange(counter_lost_, false) && is_out_of_reach(newest_, server_.now())) newest_ = 0;
  if (one.token <= newest_) {
    violated("S2: token " + std::to_string(one.token) + " is not above the last");
  }
  newest_ = std::max(newest_, one.token);
  if (keeps_news_) {
    news_.push_back({.what = history::kind::granted, .token = one.token, .note = one.owner});
  }
  grants_.insert_or_assign(one.token, grant{one.owner, now, limit_});
  granted_last_at_ = now;
  check_order(one);
}

void promises::executed(monotonic_time now) {
  if (now > opens_at_) became_free(opens_at_, true);
  std::swap(queue_, queue_before_);
  if (keeps_news_) {
    for (const auto& one : holders_) owners_before_.push_back(one.owner);
  }
  kind_.holders(server_, key_, holders_);
  for (auto& owner : owners_before_) {
    if (find(owner) == nullptr) news_.push_back({.what = history::kind::freed, .note = owner});
  }
  owners_before_.clear();
  kind_.queue(server_, key_, queue_);
  check_places();
  if (queue_.empty()) {
    waited_for_since_.reset();
  } else if (!waited_for_since_) {
    waited_for_since_ = now;
  }
  for (const auto& one : queue_) tickets_.insert_or_assign(one.owner, one.ticket);
  if (kind_.limit != nullptr) limit_ = kind_.limit(server_, key_);
  new_owners_.clear();
  for (const auto& one : holders_) {
    if (is_known(one)) continue;
    granted(one, now);
    new_owners_.push_back(one.owner);
  }
  if (!new_owners_.empty()) {
    shares_.clear();
    for (const auto& one : holders_) shares_.push_back(one.has);
    if (!go_together(shares_, limit_))
      violated("S1: the server gave it to one more than go together");
  }
  const auto opens = opens_in();
  opens_at_ = monotonic_time::max();
  if (opens == 0us) {
    became_free(now, false);
  } else {
    free_since_.reset();
    if (opens) opens_at_ = now + *opens;
  }
}

void promises::gave_back(monotonic_time) {
  if (!queue_.empty() && opens_in() == 0us) {
    violated("L2: the lock was given back to nobody although somebody waits");
  }
}

void promises::emptied(monotonic_time now) {
  counter_lost_ = true;
  disrupted_at_ = emptied_at_ = now;
  freed_by_expiry_ = false;
  executed(now);
}

void promises::clock_set(monotonic_time now, microseconds by) {
  clock_set_at_ = now;
  if (by > 0us) disrupted_at_ = now;
  if (by < 0us) stepped_back_ = true;
  if (now > opens_at_) became_free(opens_at_, true);
  executed(now);
}

void promises::believed(const belief& what, monotonic_time now) {
  if (is_disrupted_since(what.evidence)) return;
  kind_.holders(server_, key_, holders_);
  const auto* const there = find_heir(what.owner);
  // After a step back a late copy may be granted what its first was granted once and has changed.
  const bool is_another =
      there != nullptr && there->owner == what.owner &&
      (there->token < what.token || (there->token > what.token && !stepped_back_));
  if (there == nullptr || is_another) {
    return violated("S3: somebody believes in a lease that the server does not know");
  }
  const nanoseconds too_long = what.deadline - (now + there->remaining);
  if (too_long > 0ns) {
    violated("S3: held for " + std::to_string(std::chrono::ceil<microseconds>(too_long).count()) +
             " us longer than at the server");
  }
}

// What counts is how many permits there were when the last of them was granted some.
void promises::believed_together(std::span<const belief* const> all) {
  shares_.clear();
  dialects::token_major last = 0;
  for (const auto* const one : all) {
    if (is_disrupted_since(one->evidence)) continue;
    shares_.push_back(one->has);
    last = std::max(last, one->token);
  }
  const auto found = grants_.find(last);
  if (go_together(shares_, found == grants_.end() ? limit_ : found->second.limit)) return;
  violated("S1: some believe that they hold who do not go together, the last with the token " +
           std::to_string(last));
}

void promises::left(std::string_view owner) {
  kind_.holders(server_, key_, holders_);
  if (find(owner) != nullptr && !stepped_back_) {
    violated("I11: a request has ended, and the lock was left to it");
  }
}

void promises::all_left() {
  kind_.holders(server_, key_, holders_);
  if (!holders_.empty()) violated("I11: all have left, and the lock is somebody's");
  for (const auto& one : server_.lasting_keys()) {
    if (!one.starts_with("hf:fence:")) violated("I11: left for ever: " + one);
  }
}

void promises::late_copy_executed() {
  if (!stepped_back_) violated("I11: a copy was executed of a request that had ended");
}

void promises::waits(const place& where, monotonic_time now) {
  contended_ = true;
  if (!free_since_ && now > opens_at_) became_free(opens_at_, true);
  if (!free_since_) return;
  const bool undisturbed = freed_by_expiry_ && where.before <= leasing::most_that_ask_soon &&
                           where.told_at - where.asked_at <= round_trip &&
                           granted_last_at_ <= where.asked_at &&
                           !is_disrupted_since(where.asked_at) && !is_set_since(where.asked_at);
  const nanoseconds bound =
      undisturbed ? prompt_for(where.before) : leasing::ask_bound(where.before) + slack;
  if (now - std::max(*free_since_, where.told_at) <= bound) return;
  violated(undisturbed ? "L1: the lease has ended, and who waits does not know it"
                       : "L2: the lock is free, and somebody waits");
}

void promises::kept(monotonic_time since, monotonic_time now) {
  if (!waited_for_since_ || now - std::max(since, *waited_for_since_) <= prompt) return;
  violated("R: a lock that nobody uses is kept although somebody waits");
}

void promises::violated(const std::string& what) {
  if (violation_.empty()) violation_ = what;
}

}  // namespace holdfast::simulation
