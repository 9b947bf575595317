#include "inspection/audit_book.hpp"

#include <algorithm>
#include <utility>

#include "base/glob.hpp"
#include "base/request_id.hpp"
#include "substrate/claim.hpp"

namespace holdfast::inspection {
namespace {

using dialects::trail_event;
using wall_time = std::chrono::system_clock::time_point;

// By then a living client has told how its grant ended, even if it had to send that again.
constexpr milliseconds told_within{5'000};

// Two servers of a cluster tell the times of a grant and of a break.
constexpr milliseconds clocks_differ{100};

constexpr std::uint64_t major_of(std::uint64_t token) {
  return token / substrate::minors_per_major;
}

wall_time shown(milliseconds at) { return wall_time{at}; }

std::string_view shown_client(std::string_view id) { return id.substr(0, shown_client_digits); }

audit_record without_grant(const dialects::break_entry& one) {
  audit_record found{.name = one.name, .token = fencing_token{one.token}};
  found.who.id = one.owner;
  found.ended = shown(one.at);
  found.how = grant_end::broken;
  found.by = one.by;
  found.reason = one.reason;
  return found;
}

}  // namespace

void audit_book::add(const dialects::trail_entry& entry) {
  if (entry.what == trail_event::missed) {
    missed_.try_emplace({entry.by.client, entry.grant}, missing{entry.at, entry.token});
    return;
  }
  if (!matches(pattern_, entry.name)) return;
  auto& one =
      grants_.try_emplace({entry.by.client, entry.grant, entry.name}, grant{entry}).first->second;
  if (entry.kind == lock_kind::mutex && entry.token != 0) {
    mutexes_[entry.name].try_emplace(entry.token, entry.granted);
  }
  if (entry.what != trail_event::granted && !one.end) one.end = entry;
}

void audit_book::add(dialects::break_entry entry) {
  if (matches(pattern_, entry.name)) breaks_.push_back(std::move(entry));
}

std::set<std::string> audit_book::open_locks() const {
  std::set<std::string> names;
  for (const auto& [_, one] : grants_) {
    if (!one.end) names.insert(one.told.name);
  }
  return names;
}

std::set<std::string> audit_book::open_clients() const {
  std::set<std::string> clients;
  for (const auto& [_, one] : grants_) {
    if (!one.end) clients.insert(one.told.by.client);
  }
  return clients;
}

// A break takes away what the server knows: the grant with its major that had not been released
// then. A client may have handed that on before, and may not have heard of the break.
const dialects::break_entry* audit_book::break_of(const grant& one) const {
  const auto is_of = [&](const dialects::break_entry& each) {
    if (each.name != one.told.name || each.at + clocks_differ < one.told.granted) return false;
    const bool was_released_before = one.end && one.end->what == trail_event::released &&
                                     one.end->error.empty() && one.end->at < each.at;
    if (was_released_before) return false;
    if (one.told.token == 0) {
      return each.token == 0 && each.owner.starts_with(shown_client(one.told.by.client));
    }
    return major_of(each.token) == major_of(one.told.token);
  };
  const auto found = std::ranges::find_if(breaks_, is_of);
  return found == breaks_.end() ? nullptr : &*found;
}

bool audit_book::is_held(const grant& one, const lock_status& found) const {
  return std::ranges::any_of(found.holders, [&](const lock_holding& each) {
    if (one.told.token == 0) return each.who.id.starts_with(shown_client(one.told.by.client));
    return each.token && major_of(each.token.value()) == major_of(one.told.token);
  });
}

// Only one at a time has a mutex.
bool audit_book::has_later(const grant& one, milliseconds before) const {
  const auto known = mutexes_.find(one.told.name);
  if (one.told.kind != lock_kind::mutex || one.told.token == 0 || known == mutexes_.end()) {
    return false;
  }
  const auto next = known->second.upper_bound(one.told.token);
  return next != known->second.end() && next->second <= before;
}

grant_end audit_book::end_of(const grant& one, milliseconds now,
                             const audit_witness& beside) const {
  if (one.end) return one.end->what == trail_event::lost ? grant_end::lost : grant_end::released;
  const auto found = beside.held.find(one.told.name);
  if (found == beside.held.end()) {
    if (beside.saw_no_others || beside.unseen.contains(one.told.name)) return grant_end::unknown;
  } else {
    if (is_held(one, found->second)) return grant_end::held;
    if (found->second.holding > found->second.holders.size()) return grant_end::unknown;
  }
  const bool is_silent =
      beside.gone.contains(one.told.by.client) || has_later(one, now - told_within);
  return is_silent ? grant_end::expired : grant_end::unknown;
}

audit_record audit_book::show(const grant& one, milliseconds now,
                              const audit_witness& beside) const {
  audit_record found{.name = one.told.name,
                     .kind = one.told.kind,
                     .token = fencing_token{one.told.token},
                     .granted = shown(one.told.granted)};
  found.who.id = std::string(shown_client(one.told.by.client));
  found.who.host = one.told.by.host;
  found.who.pid = one.told.by.pid;
  found.who.program = one.told.by.program;
  if (const auto* const broken = break_of(one)) {
    found.how = grant_end::broken;
    found.ended = shown(broken->at);
    found.by = broken->by;
    found.reason = broken->reason;
    return found;
  }
  found.how = end_of(one, now, beside);
  if (one.end) {
    found.ended = shown(one.end->at);
    found.reason = one.end->error;
  }
  return found;
}

std::vector<audit_record> audit_book::records(milliseconds since, milliseconds now,
                                              const audit_witness& beside) const {
  std::vector<audit_record> all;
  std::set<const dialects::break_entry*> known;
  for (const auto& [_, one] : grants_) {
    if (const auto* const broken = break_of(one)) known.insert(broken);
    all.push_back(show(one, now, beside));
  }
  for (const auto& one : breaks_) {
    if (!known.contains(&one)) all.push_back(without_grant(one));
  }
  std::erase_if(all, [&](const audit_record& one) {
    const auto last = one.ended ? one.ended : one.granted;
    return one.how != grant_end::held && *last < shown(since);
  });
  std::ranges::stable_sort(all, {}, [](const audit_record& one) {
    return std::tuple{one.granted ? *one.granted : *one.ended, one.token};
  });
  return all;
}

std::uint64_t audit_book::missed(milliseconds since) const {
  std::uint64_t all = 0;
  for (const auto& [_, one] : missed_) {
    if (one.at >= since) all += one.many;
  }
  return all;
}

}  // namespace holdfast::inspection
