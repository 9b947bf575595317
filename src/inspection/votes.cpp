#include "inspection/votes.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/lock_key.hpp"
#include "inspection/audit.hpp"
#include "inspection/foreign_break.hpp"
#include "inspection/foreign_status.hpp"
#include "inspection/registry.hpp"
#include "lease/quorum_machine.hpp"
#include "redis/calls/ask.hpp"
#include "redis/calls/idempotent_call.hpp"
#include "redis/dialects/holdfast/quorum_inspect.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/lock_access.hpp"

namespace holdfast::inspection {
namespace {

using std::chrono::milliseconds;

// A member's vote, and for whom: a request, by its secret text.
struct counted_vote {
  quorum_vote shown;
  std::string request{};
  substrate::token_major major = 0;
};
using votes = std::vector<counted_vote>;

bool is_silent(const counted_vote& one) { return !one.shown.unavailable.empty(); }

std::string request_of(const std::string& client, const std::string& shortened) {
  return client + " " + shortened;
}

void show(const std::string& client, lock_holding grant, substrate::token_major major,
          counted_vote& vote) {
  // Its major is a count, which says nothing of when it was given.
  grant.token = fencing_token{major * substrate::minors_per_major};
  vote.request = request_of(client, grant.who.id);
  vote.major = major;
  auto& lock = vote.shown.lock;
  lock.state = lock_state::held;
  lock.kind = lock_kind::mutex;
  lock.owner = grant.who;
  lock.token = grant.token;
  lock.remaining = grant.remaining;
  lock.holding = 1;
  lock.holders.push_back(std::move(grant));
}

void show_foreign(std::string detail, counted_vote& vote) {
  vote.shown.lock.state = lock_state::foreign;
  vote.shown.lock.detail = std::move(detail);
}

void look_at(runtime::client_core& core, const lock_key& key, known_clients& known,
             const redis_locks::bound& within, counted_vote& vote) {
  const auto query = [&](resp::writer& out) { dialects::write_quorum_inspect(key, out); };
  const auto seen = dialects::read_quorum_inspect(calls::ask(core, key.slot(), query, within));
  if (const auto* why = std::get_if<substrate::refused>(&seen.what)) {
    throw failure{why->code, why->detail};
  }
  vote.shown.stays_out = seen.stays_out;
  vote.shown.lock.waiting = seen.waiting;
  if (const auto* other = std::get_if<dialects::lock_foreign>(&seen.what)) {
    show_foreign(other->detail, vote);
  } else if (const auto* held = std::get_if<dialects::lock_held>(&seen.what)) {
    auto who = known.who(held->client, held->owner);
    show(held->client, {.who = std::move(who), .remaining = held->ttl}, held->major, vote);
  }
}

void take_from(runtime::client_core& core, const lock_key& key, known_clients& known,
               substrate::token_major largest, std::string_view reason,
               const redis_locks::bound& within, counted_vote& vote) {
  const auto write = [&](resp::writer& out, server_time not_after) {
    dialects::write_quorum_break(key, largest, not_after, out);
  };
  const auto said =
      dialects::read_quorum_break(key, calls::ask_in_time(core, key.slot(), write, within));
  if (const auto* why = std::get_if<substrate::refused>(&said)) {
    if (why->code != errc::foreign_key && why->code != errc::layout_version) {
      throw failure{why->code, why->detail};
    }
    return show_foreign(why->detail, vote);
  }
  const auto* const was = std::get_if<dialects::lock_broken>(&said);
  if (was == nullptr) return;
  auto who = known.who(was->client, was->owner);
  show(was->client, {.who = std::move(who)}, was->major, vote);
  record_break(core, reason, vote.shown.lock);
}

// The dialect of a lock that several servers can keep together. Throws failure for others.
void check_votes(const dialect& how) {
  if (detail::lock_access::recipe(how)->usual().votes) return;
  throw failure{errc::unsupported,
                "a lock of the dialect " + std::string(how.name()) + " is not kept by a quorum"};
}

// The text is the same at all members, and no other holder's.
void show_foreign(lock_status seen, counted_vote& vote) {
  if (seen.state == lock_state::held) vote.request = seen.owner.foreign_text;
  vote.shown.lock = std::move(seen);
}

// The token of the first member counts, as it does for the locks of a quorum.
redis_locks::bound until_stopped(const std::vector<client>& members) {
  return {.stop = detail::lock_access::core(members.front())->engine().options().stop};
}

// Asks each in its turn; the vote of a member that does not answer is not known.
votes ask_all(const std::vector<client>& members, const lock_key& key,
              const std::function<void(runtime::client_core&, counted_vote&)>& question) {
  votes all;
  std::optional<failure> first;
  for (const auto& member : members) {
    auto& vote = all.emplace_back();
    vote.shown.member = member.url();
    vote.shown.lock.name = key.name();
    try {
      question(*detail::lock_access::core(member), vote);
    } catch (const failure& broken) {
      if (broken.reason() == errc::cancelled) throw;
      vote.shown.unavailable = broken.what();
      if (!first) first = broken;
    }
  }
  if (std::ranges::all_of(all, is_silent)) throw failure{*first};
  return all;
}

std::size_t answered(const votes& all) {
  return all.size() - static_cast<std::size_t>(std::ranges::count_if(all, is_silent));
}

void check_majority(const votes& all) {
  if (answered(all) >= leasing::majority_of(all.size())) return;
  const auto silent = std::ranges::find_if(all, is_silent);
  throw failure{errc::unavailable,
                "a majority of the quorum cannot be asked: " + silent->shown.unavailable};
}

// The request that most have voted for; empty: none has.
std::string favourite(const votes& all) {
  std::map<std::string, std::size_t> counts;
  for (const auto& one : all) {
    if (!one.request.empty()) ++counts[one.request];
  }
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  return most == counts.end() ? std::string{} : most->first;
}

// How long that many of them stay; no end where one of them has none.
std::optional<milliseconds> kept_by(std::size_t needed, std::vector<milliseconds> times) {
  std::ranges::sort(times, std::ranges::greater{});
  const auto time = times[needed - 1];
  return time == milliseconds::max() ? std::nullopt : std::optional(time);
}

void show_winner(const std::string& winner, const votes& all, quorum_status& status) {
  std::vector<milliseconds> times;
  for (const auto& one : all) {
    if (one.request != winner) continue;
    const auto& lock = one.shown.lock;
    times.push_back(lock.remaining.value_or(milliseconds::max()));
    status.token = std::max(status.token, lock.token);
    // The owner is registered at the members that it has asked lately.
    if (status.owner.host.empty()) status.owner = lock.owner;
  }
  status.state = quorum_state::held;
  status.votes = times.size();
  status.remaining = kept_by(leasing::majority_of(all.size()), std::move(times));
}

// Finds the request that has the votes of a majority, if there is one.
quorum_status count(const std::string& name, votes all) {
  quorum_status status;
  status.name = name;
  const auto needed = leasing::majority_of(all.size());
  const auto winner = favourite(all);
  const auto for_it = std::ranges::count(all, winner, &counted_vote::request);
  const auto got = winner.empty() ? std::size_t{0} : static_cast<std::size_t>(for_it);
  if (got >= needed) {
    show_winner(winner, all, status);
  } else if (got + all.size() - answered(all) >= needed) {
    status.state = quorum_state::unknown;
  }
  for (auto& one : all) status.members.push_back(std::move(one.shown));
  return status;
}

}  // namespace

quorum_status count_votes(const std::vector<client>& members, std::string_view name) {
  const auto key = redis_locks::engine_of(*detail::lock_access::core(members.front())).key_of(name);
  const auto within = until_stopped(members);
  return count(key.name(), ask_all(members, key, [&](auto& core, auto& vote) {
                 known_clients known(core, within);
                 look_at(core, key, known, within, vote);
               }));
}

quorum_status count_votes(const std::vector<client>& members, std::string_view name,
                          const dialect& how) {
  check_votes(how);
  const lock_key key(name, std::string(name));
  const auto within = until_stopped(members);
  return count(key.name(), ask_all(members, key, [&](auto& core, auto& vote) {
                 show_foreign(foreign_status(core, name, how, within), vote);
               }));
}

quorum_status break_votes(const std::vector<client>& members, std::string_view name,
                          std::string_view reason) {
  const auto key = redis_locks::engine_of(*detail::lock_access::core(members.front())).key_of(name);
  const auto within = until_stopped(members);
  // Of each member, from before: a holder that hears of the break may end, and is known no more.
  std::map<const runtime::client_core*, known_clients> known;
  const auto before = ask_all(members, key, [&](auto& core, auto& vote) {
    look_at(core, key, known.try_emplace(&core, core, within).first->second, within, vote);
  });
  check_majority(before);
  const auto largest =
      std::ranges::max_element(before, {}, [](const auto& one) { return one.major; })->major;
  return count(key.name(), ask_all(members, key, [&](auto& core, auto& vote) {
                 take_from(core, key, known.at(&core), largest, reason, within, vote);
               }));
}

quorum_status break_votes(const std::vector<client>& members, std::string_view name,
                          std::string_view reason, const dialect& how) {
  check_votes(how);
  const lock_key key(name, std::string(name));
  const auto within = until_stopped(members);
  const auto look = [&](auto& core, auto& vote) {
    show_foreign(foreign_status(core, name, how, within), vote);
  };
  check_majority(ask_all(members, key, look));
  return count(key.name(), ask_all(members, key, [&](auto& core, auto& vote) {
                 show_foreign(break_foreign(core, name, reason, how, within), vote);
               }));
}

}  // namespace holdfast::inspection
