#include "memory/lock_record.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "substrate/common_mode.hpp"

namespace holdfast::memory {
namespace {

using substrate::claim;
using substrate::refused;

lock_kind kind_of(const claim& wants) noexcept {
  if (wants.wants == nullptr) return lock_kind::mutex;
  return wants.wants->mode == 's' ? lock_kind::semaphore : lock_kind::mode_lock;
}

bool conflict(char one, char other) noexcept {
  return substrate::conflicts_of(one).find(other) != std::string_view::npos;
}

}  // namespace

// ---- what is asked -----------------------------------------------------------------------------

substrate::acquire_verdict lock_record::acquire(const claim& wants, const ear& who,
                                                monotonic_time now) {
  settle(now);
  const bool is_new = find(wants.owner) == all_.end();
  if (is_new) {
    const auto how = wants.wants == nullptr ? substrate::demand{} : *wants.wants;
    const auto provisional = substrate::claim_time(wants) + wants.delay;
    const request one{wants.owner, kind_of(wants), how, provisional, {who.whose, {}}};
    if (auto why = refusal_of(one)) return *std::move(why);
    all_.insert(place_for(one, wants.waits), one);
    settle(now);
  }
  const auto mine = find(wants.owner);
  mine->who = who;
  if (!mine->waits()) {
    mine->until = std::max(mine->until, now + substrate::kept_time(wants));
    const auto kept = std::chrono::floor<milliseconds>(mine->until - now);
    return substrate::granted{mine->token, kept - wants.delay};
  }
  for (const auto& each : all_) {
    if (!each.waits() && each.owner.is_revocable()) each.who.hear(news::wanted);
  }
  const auto ends = std::ranges::min_element(all_, {}, &request::until)->until;
  const auto remaining = std::chrono::ceil<milliseconds>(ends - now);
  if (!wants.waits) {
    all_.erase(mine);
    return substrate::busy{remaining};
  }
  const auto in_front = std::ranges::count_if(all_.begin(), mine, &request::waits);
  if (auto why = is_new ? refusal_to_wait(*mine, wants.queue_limit) : std::nullopt) {
    all_.erase(mine);
    return *std::move(why);
  }
  return substrate::queued{.place = static_cast<std::uint64_t>(in_front),
                           .remaining = remaining,
                           .ticket = 1,  // any: it has a place
                           .now = {}};
}

substrate::renew_verdict lock_record::renew(const claim& held, monotonic_time now) {
  settle(now);
  const auto mine = find(held.owner);
  if (mine == all_.end() || mine->token != held.granted) return substrate::not_mine{};
  mine->until = std::max(mine->until, now + substrate::kept_time(held));
  return substrate::renewed{std::chrono::floor<milliseconds>(mine->until - now)};
}

substrate::release_verdict lock_record::release(const claim& held, monotonic_time now) {
  settle(now);
  const auto mine = find(held.owner);
  if (mine == all_.end()) return substrate::not_mine{};
  all_.erase(mine);
  settle(now);
  return substrate::released{};
}

// A change that was granted is undone.
substrate::release_verdict lock_record::withdraw(const claim& wants, monotonic_time now) {
  settle(now);
  const auto mine = find(wants.owner);
  if (mine == all_.end() || !mine->before || wants.forsakes) return release(wants, now);
  auto undone = *mine->before;
  if (!fits(undone.how, mine->owner)) return substrate::not_undone{};
  undone.until = mine->until;
  *mine = std::move(undone);
  settle(now);
  return substrate::released{};
}

void lock_record::free(monotonic_time now) {
  std::erase_if(all_, [](const request& each) { return !each.waits(); });
  settle(now);
}

const std::list<lock_record::request>& lock_record::requests(monotonic_time now) {
  settle(now);
  return all_;
}

// ---- how it is decided -------------------------------------------------------------------------

// Drops what has ended, and hands the lock to those in front that fit, until one does not. A
// request that was to change what has ended hears of that when it asks again.
void lock_record::settle(monotonic_time now) {
  std::erase_if(all_, [&](const request& each) {
    return each.until <= now || (each.waits() && each.who.whose.expired());
  });
  bool has_moved = false, is_blocked = false;
  for (auto next = all_.begin(); next != all_.end();) {
    const auto one = next++;
    if (!one->waits()) continue;
    const bool is_over = one->how.replaced && find(one->how.replaced) == all_.end();
    const bool goes = is_over || (!is_blocked && fits(one->how, one->how.replaced));
    const bool is_told = goes || (has_moved && !is_blocked);
    if (is_told && one->who.hear) one->who.hear(news::ask_again);
    if (is_over) {
      all_.erase(one);
    } else if (goes) {
      grant(one, now);
    }
    has_moved = has_moved || goes;
    is_blocked = is_blocked || !goes;
  }
}

// The old lease may last longer than the new one, and a lease is never shortened.
void lock_record::grant(place one, monotonic_time now) {
  one->token = ++counter_;
  one->until = now + one->provisional;
  const auto old = find(one->how.replaced);
  if (old == all_.end()) return;
  one->until = std::max(one->until, old->until);
  std::swap(*one, *old);
  one->before.reset();
  old->before = std::make_shared<request>(std::move(*one));
  all_.erase(one);
}

lock_record::place lock_record::find(const std::optional<request_id>& owner) noexcept {
  return std::ranges::find_if(all_, [&](const request& each) { return each.owner == owner; });
}

// Before all others goes what keeps out nobody, or cannot wait for what it changes.
lock_record::place lock_record::place_for(const request& one, bool can_wait) noexcept {
  const auto old = find(one.how.replaced);
  const bool changes = old != all_.end();
  const auto mode = one.how.mode;
  const bool wants_less = changes && substrate::common_mode(mode, old->how.mode) == mode;
  const bool comes_first = mode == 'n' || wants_less || (changes && !can_wait);
  return std::ranges::find_if(all_, [&](const request& each) {
    return each.waits() && (comes_first || (changes && !each.how.replaced));
  });
}

bool lock_record::fits(const substrate::demand& how,
                       const std::optional<request_id>& replaced) const noexcept {
  std::uint64_t used = how.weight;
  for (const auto& each : all_) {
    if (each.waits() || each.owner == replaced) continue;
    used += each.how.weight;
    if (how.mode != 's' && conflict(how.mode, each.how.mode)) return false;
  }
  return how.mode != 's' || used <= how.limit;
}

std::optional<refused> lock_record::refusal_of(const request& one) noexcept {
  if (!all_.empty() && all_.front().kind != one.kind) {
    return refused{errc::foreign_key, false, "the name belongs to a lock of another kind"};
  }
  if (one.how.replaced && find(one.how.replaced) == all_.end()) {
    return refused{errc::lost, false, "the lease that was to be changed had ended before"};
  }
  if (one.kind == lock_kind::semaphore && one.how.weight > one.how.limit) {
    return refused{
        errc::invalid_argument, false,
        "there are " + std::to_string(one.how.limit) + " permits, and more were asked for"};
  }
  return std::nullopt;
}

// It waits already. Two holders that wait to change what they hold must not wait for each other.
std::optional<refused> lock_record::refusal_to_wait(const request& one,
                                                    std::size_t limit) noexcept {
  const auto old = find(one.how.replaced);
  const bool changes = old != all_.end();
  const auto stands_against = [&](const request& each) {
    return each.waits() && each.how.replaced && each.how.replaced != one.how.replaced &&
           conflict(each.how.mode, old->how.mode);
  };
  if (changes && std::ranges::any_of(all_, stands_against)) {
    return refused{errc::would_deadlock, false,
                   "another holder waits for this one to leave, so that it can change its own "
                   "mode: one of the two must release first"};
  }
  const auto others = std::ranges::count_if(all_, &request::waits) - 1;
  if (!changes && static_cast<std::size_t>(others) >= limit) {
    return refused{errc::queue_full, false,
                   "the queue has reached the lock's limit: " + std::to_string(others) +
                       " requests wait already"};
  }
  return std::nullopt;
}

}  // namespace holdfast::memory
