#include "lease/ballot.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace holdfast::leasing {

monotonic_time majority_deadline(std::span<const monotonic_time> deadlines) {
  std::vector<monotonic_time> latest_first(deadlines.begin(), deadlines.end());
  const auto last =
      latest_first.begin() + static_cast<std::ptrdiff_t>(majority_of(deadlines.size()) - 1);
  std::nth_element(latest_first.begin(), last, latest_first.end(), std::greater<>{});
  return *last;
}

bool ballot::seat::hear(const substrate::vote& vote, substrate::token_major chosen,
                        monotonic_time ends_at) {
  may_have_voted = false;
  if (const auto* given = std::get_if<substrate::granted>(&vote)) {
    said = chosen == 0 || given->major < chosen ? answer::voted
           : given->major == chosen             ? answer::agreed
                                                : answer::above;
    may_have_voted = true;
    major = given->major;
    deadline = ends_at;
  } else if (const auto* other = std::get_if<substrate::busy>(&vote)) {
    said = answer::busy;
    remaining = other->remaining;
  } else if (std::holds_alternative<substrate::without_memory>(vote)) {
    said = answer::blank;
  } else if (const auto* stays = std::get_if<substrate::staying_out>(&vote)) {
    said = answer::out;
    remaining = stays->remaining;
    detail = "it has lost its memory, or has a new master, and does not vote for another " +
             std::to_string(stays->remaining.count()) + " ms";
  } else if (std::holds_alternative<substrate::late>(vote)) {
    detail = "the server finds the request too old";
    may_have_voted = !std::exchange(was_late, true);
    if (may_have_voted) return false;
    said = answer::silent;
  } else if (const auto* no = std::get_if<substrate::refused>(&vote)) {
    said = answer::refused;
    code = no->code;
    passing = no->passing;
    detail = no->detail;
  }
  return true;
}

std::size_t ballot::count(answer which) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(seats, which, &seat::said));
}

std::size_t ballot::ours() const noexcept {
  return count(answer::voted) + count(answer::agreed) + count(answer::above) +
         count(answer::unsettled);
}

bool ballot::is_remembered() const noexcept {
  return ours() + count(answer::changed) + count(answer::busy) + count(answer::out) > 0;
}

bool ballot::can_succeed(bool may_found) const noexcept {
  const std::size_t open = count(answer::none);
  const std::size_t blank = count(answer::blank);
  const std::size_t joining = may_found && blank + open >= needed() ? blank : 0;
  return ours() + open + joining >= needed() && !is_split_beside_silent();
}

// Whether the members that are known to answer, and can vote, are a majority and have voted for
// different clients.
bool ballot::is_split_beside_silent() const noexcept {
  std::size_t awaited = 0, silent = 0;
  for (const seat& each : seats) {
    if (each.said == answer::none) ++(each.was_silent ? silent : awaited);
  }
  const std::size_t good = ours() + awaited;
  return silent > 0 && good < needed() && good + count(answer::busy) >= needed();
}

// Busy where enough members vote at all; otherwise what the refusing members agree on, if they do.
errc ballot::reason() const noexcept {
  const std::size_t voting = ours() + count(answer::changed) + count(answer::busy);
  // A member that has not answered when it is decided has not been too slow: it votes for somebody.
  if (voting > 0 && voting + count(answer::none) >= needed()) return errc::busy;
  std::optional<errc> common;
  for (const seat& each : seats) {
    if (each.said != answer::refused) continue;
    if (common && *common != each.code) return errc::unavailable;
    common = each.code;
  }
  const bool decides = voting + count(answer::refused) >= needed();
  return common && decides ? *common : errc::unavailable;
}

bool ballot::is_final(errc why) const noexcept {
  if (why == errc::busy || why == errc::unavailable) return false;
  return std::ranges::any_of(seats, [why](const seat& each) {
    return each.said == answer::refused && each.code == why && !each.passing;
  });
}

std::string ballot::explain() const {
  std::string text = "it takes the votes of " + std::to_string(needed()) + " of " +
                     std::to_string(seats.size()) + " members";
  const auto busy = count(answer::busy);
  if (busy > 0) text += "; " + std::to_string(busy) + " have voted for another";
  for (std::size_t i = 0; i < seats.size(); ++i) {
    const seat& each = seats[i];
    const bool is_awaited = each.said == answer::none && busy < needed();
    const std::string why = each.said == answer::blank ? "it remembers nothing"
                            : is_awaited               ? "it has not answered yet"
                                                       : each.detail;
    if (!why.empty()) text += "; " + names[i] + ": " + why;
  }
  return text;
}

std::optional<milliseconds> ballot::enough_free_after() const {
  std::vector<milliseconds> left;
  std::size_t free = 0;
  for (const seat& each : seats) {
    if (each.remaining) left.push_back(*each.remaining);
    if (each.may_have_voted && each.said != answer::silent) ++free;
  }
  if (free >= needed()) return milliseconds{0};
  const std::size_t missing = needed() - free;
  if (missing > left.size()) return std::nullopt;
  std::ranges::sort(left);
  return left[missing - 1];
}

}  // namespace holdfast::leasing
