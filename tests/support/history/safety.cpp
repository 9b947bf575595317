// I1 to I4 and I13: no more owners at a time than there may be, and tokens that grow.
#include <algorithm>
#include <map>

#include "support/history/checker.hpp"

namespace holdfast::history {

namespace {

// The acquisitions that were won, in the order in which their calls returned.
std::vector<const acquisition*> winners(const std::vector<acquisition>& of) {
  std::vector<const acquisition*> found;
  for (const auto& one : of) {
    if (one.won) found.push_back(&one);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto* a, const auto* b) { return a->won->time < b->won->time; });
  return found;
}

// S1 is not promised for as long as an old lease lasts after the server has lost it.
std::vector<interval> times_without_exclusion(const story& run, milliseconds lease) {
  std::vector<interval> times;
  for (const auto& one : run.all(kind::emptied)) times.push_back({one.time, one.until + lease});
  return times;
}

milliseconds longest_lease(const std::vector<acquisition>& of) {
  milliseconds longest{};
  for (const auto& one : of) longest = std::max(longest, one.called.lease);
  return longest;
}

bool is_within(const std::vector<interval>& times, const interval& all) {
  return std::any_of(times.begin(), times.end(),
                     [&all](const interval& time) { return time.contains(all); });
}

// The grants of a lock that processes have had, each as often as it was passed on.
class grants {
 public:
  explicit grants(const std::vector<const acquisition*>& by_return) {
    for (const auto* one : by_return) first_.try_emplace(grant_of(*one), one);
  }
  // Whether this one got what its process already had.
  bool is_passed_on(const acquisition& one) const { return first_.at(grant_of(one)) != &one; }

 private:
  using grant = std::pair<std::int64_t, std::uint64_t>;  // process, what the server has drawn
  static grant grant_of(const acquisition& one) {
    constexpr std::uint64_t passed_on_at_most = 2048;
    return {one.called.process, one.won->token / passed_on_at_most};
  }

  std::map<grant, const acquisition*> first_;
};

}  // namespace

void server_gives_to_one(const story& run, std::vector<violation>& found) {
  std::map<std::string, const event*> owners;
  for (const auto& one : run.others) {
    if (one.what == kind::emptied) owners.clear();
    if (one.what == kind::freed) owners.erase(one.lock);
    if (one.what != kind::granted) continue;
    const auto [owner, was_free] = owners.try_emplace(one.lock, &one);
    if (!was_free && owner->second->note != one.note) {
      found.push_back({"I1",
                       "S1",
                       "the server gave the lock away while it had an owner",
                       {*owner->second, one}});
    }
    owner->second = &one;
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
    for (const auto* one : winners(acquisitions)) {
      const auto [owner, fresh] = owners.try_emplace(one->won->token, &*one->won);
      if (fresh || one->won->token == 0) continue;
      found.push_back({"I2", "S2", "two grants have the same token", {*owner->second, *one->won}});
    }
  }
}

// Readers of one client who join each other have tokens of one grant, whatever the server gives to
// other readers meanwhile: they are compared with all others, and not with each other.
void tokens_follow_time(const story& run, std::vector<violation>& found) {
  const auto joins = [](const acquisition& one) { return one.called.note == "joins"; };
  const auto emptied = run.all(kind::emptied);
  const bool clock_is_set =
      std::ranges::any_of(emptied, [](const auto& one) { return one.note == "clock"; });
  for (const auto& [lock, by_call] : run.locks) {
    const auto excused = times_without_exclusion(run, longest_lease(by_call));
    const auto by_return = winners(by_call);
    const grants known(by_return);
    auto returned = by_return.begin();
    // Of those that returned before this call: of all, and of those who do not join.
    const event *largest = nullptr, *largest_of_others = nullptr;
    for (const auto& one : by_call) {
      for (; returned != by_return.end() && (*returned)->won->time < one.called.time; ++returned) {
        const auto* const won = &*(*returned)->won;
        if (largest == nullptr || won->token > largest->token) largest = won;
        if (joins(**returned)) continue;
        if (largest_of_others == nullptr || won->token > largest_of_others->token) {
          largest_of_others = won;
        }
      }
      const auto* const before = joins(one) ? largest_of_others : largest;
      if (!one.won || one.won->token == 0 || before == nullptr) continue;
      if (one.won->token >= before->token) continue;
      // What the old owner's client still passes on among its threads belongs to the old grant.
      const bool may_be = clock_is_set || known.is_passed_on(one);
      if (may_be && is_within(excused, {one.called.time, one.called.time})) continue;
      found.push_back(
          {"I3", "S2", "a later call got a smaller token", {*before, one.called, *one.won}});
    }
  }
}

void beliefs_do_not_overlap(const story& run, std::vector<violation>& found) {
  for (const auto& [lock, by_call] : run.locks) {
    const auto excused = times_without_exclusion(run, longest_lease(by_call));
    std::multimap<nanoseconds, const acquisition*> believing;  // by the end of that
    std::uint64_t taken = 0;                                   // by these
    for (const auto* one : winners(by_call)) {
      const auto mine = one->belief();
      if (mine.from == mine.to) continue;
      while (!believing.empty() && believing.begin()->first <= mine.from) {
        taken -= believing.begin()->second->part();
        believing.erase(believing.begin());
      }
      taken += one->part();
      if (taken > one->whole()) {
        const auto& [end, other] = *believing.rbegin();
        if (!is_within(excused, {mine.from, std::min(mine.to, end)})) {
          found.push_back({"I4",
                           "S1, S3",
                           one->whole() == 1 ? "two believed at once that they hold a lock"
                                             : "some believed at once that they hold too much",
                           {*other->won, *one->won}});
        }
      }
      believing.emplace(mine.to, one);
    }
  }
}

void nothing_changes_under_holders(const story& run, std::vector<violation>& found) {
  for (const auto& [lock, by_call] : run.locks) {
    const auto excused = times_without_exclusion(run, longest_lease(by_call));
    for (const auto& one : by_call) {
      const auto mine = one.belief();
      for (const auto& read : one.reads) {
        const auto& first = one.reads.front();
        const bool counts = read.time < mine.to && !is_within(excused, {first.time, read.time});
        if (!counts || read.value == first.value) continue;
        found.push_back({"I13",
                         "S1, S2",
                         "what a holder had read was changed while he had the lock",
                         {*one.won, first, read}});
        break;
      }
    }
  }
}

}  // namespace holdfast::history
