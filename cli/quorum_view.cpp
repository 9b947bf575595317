#include "cli/quorum_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/duration.hpp"
#include "cli/lock_table.hpp"
#include "cli/output.hpp"
#include "cli/printable.hpp"

namespace holdfast::cli {
namespace {

const char* name_of(quorum_state state) {
  switch (state) {
    case quorum_state::free:
      return "free";
    case quorum_state::held:
      return "held";
    case quorum_state::unknown:
      break;
  }
  return "unknown";
}

// Each waits at all members.
std::size_t waiting(const quorum_status& lock) {
  std::size_t most = 0;
  for (const auto& vote : lock.members) most = std::max(most, vote.lock.waiting);
  return most;
}

std::string show_vote(const quorum_vote& vote) {
  if (!vote.unavailable.empty()) return "no answer: " + printable_message(vote.unavailable);
  if (vote.lock.state == lock_state::foreign)
    return "no vote: " + printable_message(vote.lock.detail);
  if (vote.lock.state == lock_state::held) return "voted";
  if (vote.stays_out.count() > 0) return "stays out for " + show_duration(vote.stays_out);
  return "no vote";
}

nlohmann::ordered_json vote_json(const quorum_vote& vote) {
  nlohmann::ordered_json object;
  add_text(object, "member", vote.member);
  if (!vote.unavailable.empty()) {
    add_text(object, "unavailable", vote.unavailable);
    return object;
  }
  if (vote.stays_out.count() > 0) object["stays_out_ms"] = vote.stays_out.count();
  object["vote"] = cli::to_json(vote.lock);
  return object;
}

}  // namespace

std::string quorum_table(const std::vector<quorum_status>& locks) {
  table rows({"NAME", "STATE", "VOTES", "HOST", "PID", "PROGRAM", "TOKEN", "TIME LEFT", "WAITING"});
  for (const auto& lock : locks) {
    std::vector<std::string> cells = {printable(lock.name), name_of(lock.state)};
    if (lock.state == quorum_state::held) {
      cells.push_back(fmt::format("{}/{}", lock.votes, lock.members.size()));
      add_who(lock.owner, cells);
      cells.insert(cells.end(), {lock.token.to_string(), show_remaining(lock.remaining),
                                 std::to_string(waiting(lock))});
    }
    rows.add(std::move(cells));
  }
  return rows.text();
}

std::string votes_table(const quorum_status& lock) {
  table rows({"MEMBER", "VOTE", "HOST", "PID", "PROGRAM", "TOKEN", "TIME LEFT"});
  for (const auto& vote : lock.members) {
    std::vector<std::string> cells = {printable(vote.member), show_vote(vote)};
    if (vote.lock.state == lock_state::held) {
      add_who(vote.lock.owner, cells);
      cells.insert(cells.end(), {vote.lock.token.to_string(), show_remaining(vote.lock.remaining)});
    }
    rows.add(std::move(cells));
  }
  return fmt::format("\n{}: votes\n{}", printable(lock.name), rows.text());
}

nlohmann::ordered_json to_json(const quorum_status& lock) {
  nlohmann::ordered_json object;
  add_text(object, "name", lock.name);
  object["state"] = name_of(lock.state);
  object["waiting"] = waiting(lock);
  if (lock.state == quorum_state::held) {
    object["owner"] = cli::to_json(lock.owner);
    object["token"] = lock.token.to_string();
    if (lock.remaining) object["remaining_ms"] = lock.remaining->count();
    object["votes"] = lock.votes;
  }
  for (const auto& vote : lock.members) object["members"].push_back(vote_json(vote));
  return object;
}

void tell_of_foreign_votes(const std::vector<client>& members, const std::string& name,
                           const context& shared) {
  std::size_t votes = 0;
  for (const auto& member : members) {
    try {
      const auto found = inspector{member}.find_foreign(name);
      if (std::ranges::find(found, name, &lock_status::name) != found.end()) ++votes;
    } catch (const failure&) {
      // Nobody knows its vote; the table says so.
    }
  }
  if (votes == 0) return;
  note(shared, "foreign",
       fmt::format("{} of {} members seem to have another library's vote for {}: ask for it by "
                   "--dialect redlock",
                   votes, members.size(), name));
}

}  // namespace holdfast::cli
