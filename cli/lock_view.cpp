#include "cli/lock_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <holdfast/quorum_inspector.hpp>

#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

lock_status as_one(const quorum_status& votes) {
  lock_status one;
  one.name = votes.name;
  if (votes.what != quorum_status::state::held) return one;
  one.what = lock_status::state::held;
  one.owner = votes.owner;
  one.token = votes.token;
  one.holders.push_back({.who = votes.owner, .token = votes.token});
  one.holding = 1;
  return one;
}

bool is_majority(std::size_t some, std::size_t all) { return some > all / 2; }

}  // namespace

lock_view::lock_view(std::vector<client> servers, const lock_choice& lock)
    : servers_(std::move(servers)), lock_(lock) {}

std::optional<lock_status> lock_view::status(const std::string& name) const {
  return look_at(name).lock;
}

lock_view::sight lock_view::look_at(const std::string& name) const {
  if (lock_.quorum.given() && lock_.how == dialect{}) return look_at_quorum(name);
  sight seen;
  std::size_t answered = 0;
  for (const auto& each : servers_) {
    try {
      auto status = inspector{each}.status(name, lock_.how);
      if (status.what == lock_status::state::held) return {.lock = std::move(status)};
      seen.lock = std::move(status);
      ++answered;
    } catch (const failure& why) {
      // Another may know more; if none does, only the message is poorer.
      if (!seen.silent) seen.silent = silence{why.reason(), why.what()};
    }
  }
  if (is_majority(answered, servers_.size())) seen.silent.reset();
  return seen;
}

lock_view::sight lock_view::look_at_quorum(const std::string& name) const {
  try {
    const auto votes = quorum_inspector{servers_}.status(name);
    if (votes.what == quorum_status::state::held) return {.lock = as_one(votes)};
    sight seen;
    if (votes.what == quorum_status::state::free) seen.lock = as_one(votes);
    const auto is_silent = [](const auto& each) { return !each.unavailable.empty(); };
    const auto silent = std::ranges::count_if(votes.members, is_silent);
    const auto answered = votes.members.size() - static_cast<std::size_t>(silent);
    if (is_majority(answered, votes.members.size())) return seen;
    const auto first = std::ranges::find_if(votes.members, is_silent);
    seen.silent =
        silence{errc::unavailable, fmt::format("{} of {} members do not answer: {}", silent,
                                               votes.members.size(), first->unavailable)};
    return seen;
  } catch (const failure& why) {
    return {.silent = silence{why.reason(), why.what()}};
  }
}

std::string lock_view::holders(std::optional<silence>* silent) const {
  std::string text;
  for (const auto& name : lock_.names) {
    auto [found, unseen] = look_at(name);
    if (unseen && silent != nullptr) *silent = std::move(unseen);
    if (!found || found->what != lock_status::state::held) continue;
    text += fmt::format("{}'{}' is held by {}", text.empty() ? "" : ", ", name, show_owner(*found));
  }
  return text;
}

}  // namespace holdfast::cli
