#include "cli/lock_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <holdfast/quorum_inspector.hpp>

#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

lock_status as_one(const quorum_status& votes) {
  lock_status one;
  one.name = votes.name;
  if (votes.state != quorum_state::held) return one;
  one.state = lock_state::held;
  one.owner = votes.owner;
  one.token = votes.token;
  one.holders.push_back({.who = votes.owner, .token = votes.token});
  one.holding = 1;
  return one;
}

}  // namespace

lock_view::lock_view(std::vector<client> servers, const lock_choice& lock)
    : servers_(std::move(servers)), lock_(lock) {}

result<lock_status> lock_view::status(const std::string& name) const {
  if (lock_.quorum.given() && lock_.how == dialect{}) return of_quorum(name);
  std::optional<result<lock_status>> found;
  for (const auto& each : servers_) {
    try {
      auto status = inspector{each}.status(name, lock_.how);
      if (status.state == lock_state::held) return status;
      found = std::move(status);
    } catch (const failure& why) {
      if (!found) found = why;  // another may know more
    }
  }
  return *std::move(found);
}

result<lock_status> lock_view::of_quorum(const std::string& name) const {
  try {
    const auto votes = quorum_inspector{servers_}.status(name);
    if (votes.state != quorum_state::unknown) return as_one(votes);
    const auto silent = std::ranges::find_if(
        votes.members, [](const auto& member) { return !member.unavailable.empty(); });
    return failure{errc::unavailable, silent->member + ": " + silent->unavailable};
  } catch (const failure& why) {
    return why;
  }
}

lock_view::sight lock_view::look() const {
  sight seen;
  for (const auto& name : lock_.names) {
    const auto found = status(name);
    if (!found) {
      seen.unseen = fmt::format("'{}' cannot be looked at: {}", name, found.error().what());
    }
    if (!found || found->state != lock_state::held) continue;
    seen.holders += fmt::format("{}'{}' is held by {}", seen.holders.empty() ? "" : ", ", name,
                                show_owner(*found));
  }
  return seen;
}

std::string lock_view::addresses() const {
  std::string text;
  for (const auto& each : servers_) text += (text.empty() ? "" : ", ") + each.url();
  return text;
}

}  // namespace holdfast::cli
