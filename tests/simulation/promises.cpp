#include "simulation/promises.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/number.hpp"
#include "lease/waiting_times.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

// L1: a waiter that was told its place in the queue, within one round trip, knows when the lease
// ends. It asks then, after those before it, should they be dead: a jitter of 10 ms, one way, and a
// hundredth of the time since it was told.
constexpr nanoseconds round_trip = 4ms;
constexpr nanoseconds prompt_for(std::uint64_t before) {
  return 10ms + round_trip + leasing::ask_bound(before) / 100 +
         20ms * static_cast<milliseconds::rep>(before);
}
constexpr nanoseconds prompt = prompt_for(0);
// L2: on top of the time for which a waiter may stay silent, since its clock may be slow.
constexpr nanoseconds slack = 100ms;
// Of so many in front of the queue it is looked at when they should come in.
constexpr std::size_t most_turns = 40;
// L1: each of those before it that are gone costs a provisional grant, and one who asks then.
constexpr nanoseconds each_that_is_gone = substrate::longest_claim + prompt_for(1);

}  // namespace

promises::promises(const kind& of, const lock_key& key, simulated_server& server, insight sees)
    : kind_(of), key_(key), server_(server), sees_(std::move(sees)) {}

void promises::look(monotonic_time now) {
  kind_.holders(server_, key_, holders_);
  looked_at_ = now;
}

void promises::look_at_counter() {
  const std::string key{key_.fence_key()};
  const auto text = server_.look(std::array<std::string_view, 2>{"GET", key}).text;
  const std::string_view words = text;
  const auto space = words.find(' ');
  counter_.shown = parse_number<substrate::token_major>(words.substr(0, space)).value_or(0);
  counter_.written = server_.now();
  if (space == words.npos) return;
  const auto written = parse_number<std::int64_t>(words.substr(space + 1));
  if (written) counter_.written = microseconds{*written};
}

substrate::token_major promises::furthest_token() const {
  // One command may draw several, one for each to whom it gives the lock.
  constexpr substrate::token_major several = 1000;
  const auto begun_anew = server_.now() + dialects::longest_lead;
  const auto grown = std::max(0us, (server_.now() - counter_.written) / 2);
  return several + std::max(static_cast<substrate::token_major>(begun_anew.count()),
                            counter_.shown + static_cast<substrate::token_major>(grown.count()));
}

const holder* promises::find(std::string_view owner) const {
  const auto found = std::ranges::find(holders_, owner, &holder::owner);
  return found == holders_.end() ? nullptr : &*found;
}

const holder* promises::find_heir(std::string_view owner) const {
  if (const auto* const there = find(owner)) return there;
  const auto found = std::ranges::find(holders_, owner, &holder::was);
  return found == holders_.end() ? nullptr : &*found;
}

std::optional<monotonic_time> promises::next_end() const {
  if (holders_.empty()) return std::nullopt;
  return looked_at_ + std::ranges::min(holders_, {}, &holder::remaining).remaining;
}

const promises::grant* promises::find_grant(substrate::token_major token) const {
  const grant* last = nullptr;
  for (auto it = grants_.lower_bound({token, {}}); it != grants_.end(); ++it) {
    if (it->first.first != token) break;
    if (last == nullptr || it->second.at >= last->at) last = &it->second;
  }
  return last;
}

monotonic_time promises::granted_at(substrate::token_major token) const {
  const auto* const found = find_grant(token);
  return found == nullptr ? monotonic_time::min() : found->at;
}

monotonic_time promises::evidence_for(substrate::token_major token, monotonic_time sampled_at,
                                      monotonic_time now) const {
  const auto* const found = find_grant(token);
  const auto at = found == nullptr ? now : found->at;
  return is_set_since(sampled_at) ? std::min(sampled_at, at) : at;
}

std::optional<microseconds> promises::opens_in(const waiter& one,
                                               std::span<const waiter* const> ahead) {
  std::vector<const holder*> in_the_way;
  for (const auto& had : holders_) {
    const bool leaves =
        had.owner == one.replaces || std::ranges::any_of(ahead, [&](const waiter* other) {
          return other->replaces == had.owner;
        });
    if (!leaves) in_the_way.push_back(&had);
  }
  std::ranges::sort(in_the_way, {}, &holder::remaining);
  microseconds after{};
  for (std::size_t gone = 0;; ++gone) {
    shares_.assign(1, one.wants);
    for (const auto* const other : ahead) shares_.push_back(other->wants);
    for (auto i = gone; i < in_the_way.size(); ++i) shares_.push_back(in_the_way[i]->has);
    if (go_together(shares_, limit_)) return after;
    if (gone == in_the_way.size()) return std::nullopt;
    after = in_the_way[gone]->remaining;
  }
}

const promises::turn* promises::find_turn(const std::vector<turn>& of,
                                          std::string_view owner) const {
  const auto found = std::ranges::find(of, owner, &turn::owner);
  return found == of.end() ? nullptr : &*found;
}

// A waiter that is dead, frozen or wants more than there is holds up nobody behind it, but for a
// while. A living one holds up all with which it does not go together.
void promises::reconsider(monotonic_time now) {
  std::swap(turns_, turns_before_);
  turns_.clear();
  std::vector<const waiter*> ahead;
  std::uint32_t dead = 0;
  for (std::size_t i = 0; i < std::min(queue_.size(), most_turns); ++i) {
    const auto& one = queue_[i];
    turn next{.owner = one.owner, .dead = dead, .place = i};
    const auto opens = opens_in(one, ahead);
    if (opens) next.opens_at = looked_at_ + *opens;
    if (next.opens_at <= now) {
      next.since = now;
      const auto* const before = find_turn(turns_before_, one.owner);
      if (before != nullptr && before->is_open(now)) {
        next.since = before->open_since();
        next.by_expiry = before->was_opened_by_expiry();
        next.dead = std::max(dead, before->dead);
        next.place = before->place;
      } else if (next.opens_at > looked_at_) {
        next.since = next.opens_at;
        next.by_expiry = true;
      }
    }
    turns_.push_back(std::move(next));
    const bool lives = can_be_served(one) && sees_.lives(one.owner);
    if (lives && one.wants.mode == 'x') break;
    if (lives) {
      ahead.push_back(&one);
    } else {
      ++dead;
    }
  }
}

// Also a holder that gives up a change that was granted, and goes back to its old lease. A server
// that was emptied may give the same token to the same request once more: that is a grant of its
// own.
bool promises::is_known(const holder& one) const {
  const auto found = grants_.find({one.token, one.owner});
  return found != grants_.end() && found->second.at >= emptied_at_;
}

// A request that has asked before may come back to its place, and after the clock was set back have
// another.
void promises::check_order(const holder& served) {
  if (served.has.mode == 'n' || !served.was.empty()) return;
  const auto found = tickets_.find(served.owner);
  for (const auto& one : queue_before_) {
    if (one.owner == served.owner) return;
    if (found != tickets_.end() && found->second <= one.ticket) return;
    // A waiter that is silent, frozen or gone may be passed.
    if (sees_.is_calm(one.owner) &&
        std::ranges::find(queue_, one.owner, &waiter::owner) != queue_.end()) {
      return violated("O: one was served before another that stood before it");
    }
  }
}

// By the server's own clock: before this command the holder whose place was taken still had it.
void promises::check_change(const holder& made, monotonic_time now) {
  if (made.was.empty() || clock_set_at_ >= looked_before_) return;
  const auto before = std::ranges::find(holders_before_, made.was, &holder::owner);
  const bool had_it = before != holders_before_.end() && looked_before_ + before->remaining > now;
  if (!had_it) violated("S4: what had ended has been changed into something that is held");
}

// In two ways, for example: as one who hears messages, and as one who polls.
void promises::check_places() {
  std::unordered_set<std::string_view> seen;
  for (const auto& one : queue_) {
    if (seen.insert(one.owner).second || stepped_back_ || failed_over_) continue;
    if (!unconfirmed_.contains(one.owner)) violated("O2: one stands in the queue twice");
  }
}

void promises::granted(const holder& one, monotonic_time now) {
  // Somebody of another kind may have had a token before, when the clock showed less.
  const auto lost_at = std::exchange(counter_lost_at_, std::nullopt);
  if (lost_at || newest_here_ == 0) begun_at_ = now;
  if (lost_at && is_out_of_reach(newest_, std::min(*lost_at, server_.now()))) newest_ = 0;
  if (one.token <= newest_) {
    violated("S2: token " + std::to_string(one.token) + " is not above the last");
  }
  if (one.token > furthest_token()) {
    violated("S2: token " + std::to_string(one.token) + " is further than the counter had come");
  }
  newest_ = newest_here_ = std::max(newest_, one.token);
  if (no_token_can_be_drawn_) violated("S2: a token was drawn where no counter can be");
  if (std::exchange(set_back_since_last_token_, false)) jumped_at_ = now;
  if (keeps_news_) {
    const bool of_permits = one.has.mode == 's';
    news_.push_back({.what = history::kind::granted,
                     .token = one.token,
                     .part = of_permits ? one.has.weight : 0,
                     .whole = of_permits ? limit_ : 0,
                     .mode = support::mode_of(one.has.mode),
                     .note = one.owner});
    told_owners_.push_back(one.owner);
  }
  grants_.insert_or_assign({one.token, one.owner}, grant{now, limit_});
  granted_last_at_ = now;
  check_order(one);
  check_change(one, now);
}

void promises::executed(monotonic_time now) {
  std::swap(queue_, queue_before_);
  std::swap(holders_, holders_before_);
  looked_before_ = looked_at_;
  look(now);
  std::erase_if(told_owners_, [this](const std::string& owner) {
    if (find(owner) != nullptr) return false;
    news_.push_back({.what = history::kind::freed, .note = owner});
    return true;
  });
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
  look_at_counter();
  reconsider(now);
}

void promises::gave_back(monotonic_time) {
  // No token can be drawn that far ahead of the clock: who waits asks, and is told why not.
  if (no_token_can_be_drawn_) return;
  if (!grants_.empty() && is_out_of_reach(grants_.rbegin()->first.first, server_.now())) return;
  const auto first =
      std::ranges::find_if(queue_, [this](const auto& one) { return can_be_served(one); });
  if (first != queue_.end() && fits(*first)) {
    violated("L2: the lock was given back to nobody although somebody waits");
  }
}

void promises::asked_above(substrate::token_major floor, monotonic_time now) {
  if (floor > newest_ && microseconds{floor} >= server_.now()) jumped_at_ = now;
}

void promises::counter_lost(monotonic_time now) {
  counter_lost_at_ = std::min(counter_lost_at_.value_or(server_.now()), server_.now());
  jumped_at_ = now;
}

void promises::counter_damaged(bool of_another_type, monotonic_time now) {
  counter_lost(now);
  no_token_can_be_drawn_ = of_another_type;
}

void promises::emptied(monotonic_time now) {
  counter_damaged(false, now);
  disrupted_at_ = emptied_at_ = now;
  executed(now);
}

// Grants from before the old server was emptied may be there again.
void promises::failed_over(const heard_so_far& heard, monotonic_time now) {
  disrupted_at_ = now;
  emptied_at_ = monotonic_time::min();
  newest_here_ = heard.newest;
  const bool has_a_counter = heard.newest != 0 && !heard.counter_lost_at;
  const bool another_began_it = has_a_counter && begun_at_ > heard.at;
  if (jumped_at_ > heard.at || set_back_since_last_token_ || another_began_it) {
    forget_unheard_tokens();
  }
  counter_lost_at_ = heard.counter_lost_at;
  no_token_can_be_drawn_ = heard.no_token_can_be_drawn;
  set_back_since_last_token_ = heard.set_back_since_last_token || set_back_at_ > heard.at;
  failed_over_ = true;
  executed(now);
}

void promises::clock_set(monotonic_time now, microseconds by) {
  clock_set_at_ = now;
  if (by > 0us) disrupted_at_ = now;
  if (by < 0us) {
    stepped_back_ = set_back_since_last_token_ = true;
    set_back_at_ = now;
    forget_unheard_tokens();
  }
  if (counter_lost_at_) counter_lost_at_ = std::min(*counter_lost_at_, server_.now());
  executed(now);
}

void promises::believed(const belief& what, monotonic_time now) {
  if (is_disrupted_since(what.evidence)) return;
  look(now);
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

void promises::believed_no_less(const belief& what, nanoseconds asked, nanoseconds delay,
                                monotonic_time now) {
  if (is_disrupted_since(what.evidence) || is_set_since(what.evidence)) return;
  const auto* const there = find(what.owner);
  if (there == nullptr || there->token != what.token) return;
  const nanoseconds left = std::min<nanoseconds>(asked, there->remaining - delay);
  if (what.deadline + left / 50 + 5ms < std::min(now, what.evidence) + left) {
    violated("S3: the server keeps a lease longer than it is believed in");
  }
}

// The limit that counts is that of the time of the last grant.
void promises::believed_together(std::span<const belief* const> all) {
  shares_.clear();
  substrate::token_major last = 0;
  for (const auto* const one : all) {
    if (is_disrupted_since(one->evidence) || changed_unheard_.contains(one->owner)) continue;
    shares_.push_back(one->has);
    if (granted_at(one->token) >= granted_at(last)) last = one->token;
  }
  const auto* const found = find_grant(last);
  if (go_together(shares_, found == nullptr ? limit_ : found->limit)) return;
  violated("S1: some believe that they hold who do not go together, the last with the token " +
           std::to_string(last));
}

void promises::left(std::string_view owner, monotonic_time now) {
  look(now);
  // Giving back may have been refused, too; and a replica may not have heard of it.
  if (now < refused_until_ + 5s) return;
  // A lock that it has given back in one way may be given to its place in the other.
  if (unconfirmed_.contains(owner)) return;
  if (find(owner) != nullptr && !stepped_back_ && !failed_over_) {
    violated("I11: a request has ended, and the lock was left to it");
  }
}

void promises::all_left(monotonic_time now) {
  look(now);
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
  const auto* const own = find_turn(turns_, where.request);
  if (own == nullptr || !own->is_open(now)) return;
  const bool undisturbed = own->was_opened_by_expiry() && own->dead == 0 &&
                           where.before <= leasing::most_that_ask_soon &&
                           where.told_at - where.asked_at <= round_trip &&
                           granted_last_at_ <= where.asked_at &&
                           !is_disrupted_since(where.asked_at) && !is_set_since(where.asked_at);
  const auto place = own->dead > 0 ? std::max(where.before, own->place) : where.before;
  nanoseconds bound = undisturbed ? prompt_for(where.before) : leasing::ask_bound(place) + slack;
  bound += each_that_is_gone * static_cast<milliseconds::rep>(own->dead);
  if (now - std::max(own->open_since(), undisturbed ? where.told_at : where.calm_since) <= bound) {
    return;
  }
  violated(undisturbed     ? "L1: the lease has ended, and who waits does not know it"
           : own->dead > 0 ? "L2: somebody could come in, but for those before it who are gone"
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
