// I1 to I3: the server gives to no more at a time than may have it, and tokens grow.
#include <algorithm>
#include <map>

#include "support/history/checker.hpp"
#include "support/history/excuses.hpp"

namespace holdfast::history {

namespace {

using owners = std::map<std::string, const event*>;

// One of those beside whom this may not be given: by the table of the modes, or since there are no
// more permits.
const event* in_the_way(const owners& has, const event& given) {
  auto taken = given.whole == 0 ? 1 : std::uint64_t{given.part};
  const event* last = nullptr;
  for (const auto& [owner, one] : has) {
    if (owner == given.note) continue;
    if (one->mode && given.mode) {
      if (!support::go_together(*one->mode, *given.mode)) return one;
      continue;
    }
    taken += one->whole == 0 ? 1 : std::uint64_t{one->part};
    last = one;
  }
  return taken > std::max(1U, given.whole) ? last : nullptr;
}

// A request for a lock, or for another mode of it, gets a token.
struct grant {
  const event* called;
  const event* won;
  bool joins;  // other readers of its client
};

std::vector<grant> grants_of(const std::vector<acquisition>& acquisitions) {
  std::vector<grant> all;
  for (const auto& one : acquisitions) {
    if (!one.won) continue;
    all.push_back({&one.called, &*one.won, one.called.note == "joins"});
    for (const auto& each : one.changes) {
      if (each.made()) all.push_back({&each.asked, &*each.result, false});
    }
  }
  return all;
}

bool reads(const grant& one) {
  return one.joins || (one.won->mode && !support::writes(*one.won->mode));
}

void sort_by(const event* grant::*when, std::vector<grant>& all) {
  std::stable_sort(all.begin(), all.end(), [when](const grant& a, const grant& b) {
    return (a.*when)->time < (b.*when)->time;
  });
}

// The grants of a lock that processes have had, each as often as it was passed on.
class known_grants {
 public:
  explicit known_grants(const std::vector<grant>& by_return) {
    for (const auto& one : by_return) first_.try_emplace(id_of(one), one.won);
  }
  // Whether this one got what its process already had.
  bool is_passed_on(const grant& one) const { return first_.at(id_of(one)) != one.won; }

 private:
  using id = std::pair<std::int64_t, std::uint64_t>;  // process, what the server has drawn
  static id id_of(const grant& one) {
    constexpr std::uint64_t passed_on_at_most = 2048;
    return {one.won->process, one.won->token / passed_on_at_most};
  }

  std::map<id, const event*> first_;
};

// The larger token of what was had by then.
class largest {
 public:
  void see(const event& won) {
    if (won_ == nullptr || won.token > won_->token) won_ = &won;
  }
  const event* get() const { return won_; }

 private:
  const event* won_ = nullptr;
};

}  // namespace

void server_gives_to_those_who_go_together(const story& run, std::vector<violation>& found) {
  std::map<std::string, owners> locks;
  for (const auto& one : run.others) {
    if (one.what == kind::emptied) locks.clear();
    if (one.what == kind::freed) locks[one.lock].erase(one.note);
    if (one.what != kind::granted) continue;
    auto& has = locks[one.lock];
    if (const auto* const other = in_the_way(has, one)) {
      found.push_back(
          {"I1", "S1", "the server gave the lock to one more than may have it", {*other, one}});
    }
    has.insert_or_assign(one.note, &one);
  }
}

void tokens_grow(const story& run, std::vector<violation>& found) {
  std::map<std::string, const event*> last;
  for (const auto& one : run.others) {
    if (one.what != kind::granted) continue;
    const auto [before, first] = last.try_emplace(one.lock, &one);
    if (!first && one.token <= before->second->token) {
      found.push_back({"I2", "S2", "a token is not above the one before", {*before->second, one}});
    }
    before->second = &one;
  }
  for (const auto& [lock, acquisitions] : run.locks) {
    std::map<std::uint64_t, const event*> owners;
    auto by_return = grants_of(acquisitions);
    sort_by(&grant::won, by_return);
    for (const auto& one : by_return) {
      const auto [owner, fresh] = owners.try_emplace(one.won->token, one.won);
      if (fresh || one.won->token == 0) continue;
      found.push_back({"I2", "S2", "two grants have the same token", {*owner->second, *one.won}});
    }
  }
}

// Readers of one client who join each other have tokens of one grant, whatever the server gives to
// other readers meanwhile, also to upgradeable ones and to writers that have become readers: they
// are compared with those who write. What a client passes on among its threads is of one grant,
// whoever comes into NL meanwhile: that goes together with all, and allows nothing.
void tokens_follow_time(const story& run, std::vector<violation>& found) {
  const auto emptied = run.all(kind::emptied);
  const bool clock_is_set =
      std::ranges::any_of(emptied, [](const auto& one) { return one.note == "clock"; });
  for (const auto& [lock, acquisitions] : run.locks) {
    const auto excused = times_without_exclusion(run, longest_lease(acquisitions));
    auto by_call = grants_of(acquisitions), by_return = by_call;
    sort_by(&grant::called, by_call);
    sort_by(&grant::won, by_return);
    const known_grants known(by_return);
    auto returned = by_return.begin();
    largest of_all, of_users, of_writers;  // that returned before this call
    for (const auto& one : by_call) {
      for (; returned != by_return.end() && returned->won->time < one.called->time; ++returned) {
        of_all.see(*returned->won);
        if (returned->won->mode != support::mode::nl) of_users.see(*returned->won);
        if (!reads(*returned)) of_writers.see(*returned->won);
      }
      const bool is_passed_on = known.is_passed_on(one);
      const auto& earlier = one.joins ? of_writers : is_passed_on ? of_users : of_all;
      const auto* const before = earlier.get();
      if (one.won->token == 0 || before == nullptr || one.won->token >= before->token) continue;
      // Local hand-overs of the old owner's client still belong to the old grant.
      const bool may_be = clock_is_set || is_passed_on;
      if (may_be && is_within(excused, {one.called->time, one.called->time})) continue;
      found.push_back(
          {"I3", "S2", "a later call got a smaller token", {*before, *one.called, *one.won}});
    }
  }
}

}  // namespace holdfast::history
