#include "memory/lock_table.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "net/own_to_process.hpp"
#include "substrate/common_mode.hpp"

namespace holdfast::memory {
namespace {

using substrate::claim;
using substrate::refused;

milliseconds left_of(monotonic_time until, monotonic_time now, milliseconds delay) {
  return std::max(milliseconds{0}, std::chrono::floor<milliseconds>(until - now) - delay);
}

bool wants_less(char now, char before) noexcept {
  return substrate::common_mode(now, before) == now;
}

}  // namespace

// ---- what is asked -----------------------------------------------------------------------------

substrate::acquire_verdict lock_record::acquire(const claim& wants, const std::shared_ptr<ear>& who,
                                                monotonic_time now) {
  drop_ended(now);
  const auto until = now + wants.lease + wants.delay;
  if (auto* const mine = find(wants.owner)) {
    mine->until = std::max(mine->until, until);
    return substrate::granted{mine->token, left_of(mine->until, now, wants.delay)};
  }
  if (auto why = refusal_of(wants)) return *std::move(why);
  request one{wants.owner, {}, wants.wants == nullptr, who};
  if (wants.wants != nullptr) one.how = *wants.wants;
  const auto* const old = one.how.replaced ? find(*one.how.replaced) : nullptr;
  const bool comes_first =
      queue_.empty() || one.how.mode == 'n' ||
      (old != nullptr && (wants_less(one.how.mode, old->how.mode) || !wants.waits));
  if (comes_first && fits(one)) {
    const auto& got = take(one, until);
    if (old != nullptr) serve(now);
    return substrate::granted{got.token, left_of(got.until, now, wants.delay)};
  }
  ask_back();
  if (!wants.waits) {
    return substrate::busy{std::chrono::ceil<milliseconds>(remaining(now))};
  }
  const auto of_us = [&](const waiter& each) { return each.owner == wants.owner; };
  const bool is_new = std::ranges::none_of(queue_, of_us);
  if (is_new) {
    if (auto why = join(wants, one)) return *std::move(why);
  }
  serve(now);
  if (auto* const mine = find(wants.owner)) {
    mine->until = std::max(mine->until, until);  // the answer says it: no provisional time
    return substrate::granted{mine->token, left_of(mine->until, now, wants.delay)};
  }
  const auto at = std::ranges::find_if(queue_, of_us);
  return substrate::queued{.place = static_cast<std::uint64_t>(at - queue_.begin()),
                           .remaining = std::chrono::ceil<milliseconds>(remaining(now)),
                           .ticket = at->ticket,
                           .now = {},
                           .is_new = is_new};
}

substrate::renew_verdict lock_record::renew(const claim& held, monotonic_time now) {
  drop_ended(now);
  auto* const mine = find(held.owner);
  if (mine == nullptr || mine->token != held.granted) return substrate::not_mine{};
  mine->until = std::max(mine->until, now + held.lease + held.delay);
  return substrate::renewed{left_of(mine->until, now, milliseconds{0})};  // with the delay
}

substrate::release_verdict lock_record::release(const claim& held, monotonic_time now) {
  drop_ended(now);
  const auto* const mine = find(held.owner);
  if (mine == nullptr || mine->token != held.granted) {
    serve(now);
    return substrate::not_mine{};
  }
  std::erase_if(holders_, [&](const holder& each) { return &each == mine; });
  serve(now);
  return substrate::released{};
}

substrate::release_verdict lock_record::withdraw(const claim& wants, monotonic_time now) {
  drop_ended(now);
  std::erase_if(queue_, [&](const waiter& each) { return each.owner == wants.owner; });
  auto* const mine = find(wants.owner);
  if (mine == nullptr) {
    serve(now);
    return substrate::not_mine{};
  }
  if (const auto before = mine->before; before && !wants.forsakes) {
    const auto granted = *mine;
    holder undone = *before;
    undone.how.replaced = granted.owner;
    if (!fits(undone)) return substrate::not_undone{};
    undone.how.replaced = before->how.replaced;
    undone.until = granted.until;
    *mine = std::move(undone);
  } else {
    std::erase_if(holders_, [&](const holder& each) { return &each == mine; });
  }
  serve(now);
  return substrate::released{};
}

// ---- how it is decided -------------------------------------------------------------------------

void lock_record::drop_ended(monotonic_time now) {
  std::erase_if(holders_, [&](const holder& each) { return each.until <= now; });
  std::erase_if(queue_, [](const waiter& each) { return each.who->is_gone(); });
}

lock_record::holder* lock_record::find(const request_id& owner) noexcept {
  const auto at = std::ranges::find(holders_, owner, &holder::owner);
  return at == holders_.end() ? nullptr : &*at;
}

std::optional<refused> lock_record::refusal_of(const claim& wants) noexcept {
  const auto family_of = [](bool is_alone, char mode) { return is_alone ? 'x' : mode == 's'; };
  const auto* const how = wants.wants;
  const request* const known = !holders_.empty() ? static_cast<request*>(&holders_.front())
                               : !queue_.empty() ? static_cast<request*>(&queue_.front())
                                                 : nullptr;
  if (known != nullptr && family_of(known->is_alone, known->how.mode) !=
                              family_of(how == nullptr, how == nullptr ? 'x' : how->mode)) {
    return refused{errc::foreign_key, false, "the name belongs to a lock of another kind"};
  }
  if (how == nullptr) return std::nullopt;
  if (how->replaced && find(*how->replaced) == nullptr) {
    return refused{errc::lost, false, "the lease that was to be changed had ended before"};
  }
  if (how->mode == 's' && how->weight > how->limit) {
    return refused{errc::invalid_argument, false,
                   "there are " + std::to_string(how->limit) + " permits, and more were asked for"};
  }
  return std::nullopt;
}

bool lock_record::fits(const request& one) const noexcept {
  const auto counts = [&](const holder& each) {
    return !one.how.replaced || each.owner != *one.how.replaced;
  };
  if (one.how.mode == 's') {
    std::uint64_t used = one.how.weight;
    for (const auto& each : holders_) used += counts(each) ? each.how.weight : 0;
    return used <= one.how.limit;
  }
  const auto against = substrate::conflicts_of(one.how.mode);
  return std::ranges::none_of(holders_, [&](const holder& each) {
    return counts(each) && against.find(each.how.mode) != against.npos;
  });
}

// What it had may last longer than what it asks for, and nothing is shortened.
lock_record::holder& lock_record::take(const request& one, monotonic_time until) {
  holder got{one, ++counter_, until, {}};
  if (auto* const old = one.how.replaced ? find(*one.how.replaced) : nullptr) {
    got.until = std::max(until, old->until);
    got.before = std::make_shared<holder>(*old);
    got.before->before.reset();
    *old = std::move(got);
    return *old;
  }
  return holders_.emplace_back(std::move(got));
}

// Hands the lock to those who are in front and fit, until one does not.
void lock_record::serve(monotonic_time now) {
  bool has_changed = false;
  while (!queue_.empty()) {
    const waiter next = queue_.front();
    if (next.how.replaced && find(*next.how.replaced) == nullptr) {
      next.who->hear(asked_again{});
    } else if (!fits(next)) {
      break;
    } else {
      const auto claim = std::min(next.lease, substrate::longest_claim);
      const auto& got = take(next, now + claim + next.delay);
      next.who->hear(handed_over{{got.token, claim}, now});
    }
    queue_.pop_front();
    has_changed = true;
  }
  if (has_changed && !queue_.empty()) queue_.front().who->hear(first_in_line{remaining(now)});
}

// Another holder waits to change its mode until this one gives up its own.
bool lock_record::deadlocks(const request& one) noexcept {
  const auto* const old = one.how.replaced ? find(*one.how.replaced) : nullptr;
  return old != nullptr && std::ranges::any_of(queue_, [&](const waiter& each) {
           const bool changes = each.how.replaced && *each.how.replaced != *one.how.replaced;
           return changes && substrate::conflicts_of(each.how.mode).find(old->how.mode) !=
                                 std::string_view::npos;
         });
}

std::optional<refused> lock_record::join(const claim& wants, const request& one) {
  const bool changes = one.how.replaced.has_value();
  if (deadlocks(one)) {
    return refused{errc::would_deadlock, false,
                   "another holder waits for this one to leave, so that it can change its own "
                   "mode: one of the two must release first"};
  }
  if (!changes && queue_.size() >= wants.queue_limit) {
    return refused{errc::queue_full, false,
                   "the queue has reached the lock's limit: " + std::to_string(queue_.size()) +
                       " requests wait already"};
  }
  const auto behind = std::ranges::find_if(
      queue_, [&](const waiter& each) { return changes && !each.how.replaced; });
  queue_.insert(behind, waiter{one, wants.lease, wants.delay, ++tickets_});
  return std::nullopt;
}

nanoseconds lock_record::remaining(monotonic_time now) const noexcept {
  const auto first = std::ranges::min_element(holders_, {}, &holder::until);
  return first == holders_.end() ? nanoseconds{0} : first->until - now;
}

void lock_record::ask_back() {
  for (const auto& each : holders_) {
    if (each.owner.is_revocable()) each.who->hear(wanted{});
  }
}

std::shared_ptr<lock_table> lock_table::named(const std::string& name) {
  struct tables {
    mutex guard;
    std::map<std::string, std::weak_ptr<lock_table>> all HOLDFAST_GUARDED_BY(guard);
  };
  auto& ours = net::own_to_process<tables>();
  const scoped_mutex lock(ours.guard);
  std::erase_if(ours.all, [](const auto& each) { return each.second.expired(); });
  auto& known = ours.all[name];
  auto table = known.lock();
  if (!table) known = table = std::make_shared<lock_table>();
  return table;
}

}  // namespace holdfast::memory
