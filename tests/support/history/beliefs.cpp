// I4 and I13: all who believe at once that they hold a lock go together by the table of the modes,
// and no client believes so for longer than it may.
#include <algorithm>
#include <map>
#include <set>

#include "support/history/checker.hpp"
#include "support/history/excuses.hpp"

namespace holdfast::history {

namespace {

using support::go_together;
using support::no_more;

// An acquisition, or an observer, says that it is held in one mode for some time.
struct belief {
  const acquisition* of;
  interval time;
  event first, last;  // that say so
};

// The events of one acquisition, in order, become its beliefs. A lease that has ended is never held
// again: a lease that is said to be held twice in the same mode was held in between, and until the
// lease has said that it would be. Each token is a lease of its own: when a change has been made,
// what was held before is held no more. While one is under way that may let others in, what is
// still said of the old mode counts for its moment alone.
class beliefs_of {
 public:
  beliefs_of(const acquisition& of, std::vector<belief>& all)
      : of_(of), over_(of.over()), all_(all) {}

  void read() {
    std::vector<event> said{*of_.won};
    for (const auto& look : of_.looks) {
      if (look.what == kind::ended) continue;
      said.push_back(look);
      if (look.token == 0) said.back().token = of_.won->token;
    }
    for (const auto& one : of_.changes) {
      said.push_back(one.asked);
      if (one.made()) said.push_back(*one.result);
    }
    std::stable_sort(said.begin(), said.end(),
                     [](const event& a, const event& b) { return a.time < b.time; });
    for (const auto& one : said) see(one);
    close_if([](const belief&) { return true; }, over_);
  }

 private:
  void see(const event& one) {
    if (one.what == kind::changing) return ask(one);
    if (gives_up(one)) {
      if (one.time < over_) all_.push_back({&of_, {one.time, one.time}, one, one});
      return;
    }
    if (one.what == kind::changed) {
      close_if([&](const belief& open) { return open.first.token != one.token; }, one.time);
    }
    const auto open = open_.find(one.token);
    const auto to = std::max(one.time, one.until);
    if (open != open_.end() && open->second.first.mode == one.mode) {
      auto& known = open->second;
      if (to > known.time.to) known.time.to = to;
      known.last = one;
      return;
    }
    close_if([&](const belief& old) { return old.first.token == one.token; }, one.time);
    open_.insert_or_assign(one.token, belief{&of_, {one.time, to}, one, one});
  }

  // Whether a change of this is under way, and may have been made.
  bool gives_up(const event& look) const {
    return std::ranges::any_of(of_.changes, [&](const change& each) {
      const bool over = each.result && each.result->time <= look.time;
      return each.asked.time <= look.time && !over && is_given_up(look, each.asked);
    });
  }

  static bool is_given_up(const event& has, const event& asked) {
    return !asked.mode || !has.mode || !no_more(*has.mode, *asked.mode);
  }

  // The next look says what it has become. A holder that asks for more keeps its lease until then.
  void ask(const event& change) {
    close_if([&](const belief& open) { return is_given_up(open.first, change); }, change.time);
  }

  template <typename Which>
  void close_if(Which&& which, nanoseconds at) {
    for (auto open = open_.begin(); open != open_.end();) {
      if (!which(open->second)) {
        ++open;
        continue;
      }
      auto ended = open->second;
      ended.time.to = std::min({ended.time.to, at, over_});
      if (ended.time.from < ended.time.to) all_.push_back(std::move(ended));
      open = open_.erase(open);
    }
  }

  const acquisition& of_;
  const nanoseconds over_;
  std::map<std::uint64_t, belief> open_;  // by token
  std::vector<belief>& all_;
};

// Of one lock, by their beginning.
std::vector<belief> all_beliefs(const std::vector<acquisition>& acquisitions) {
  std::vector<belief> all;
  for (const auto& one : acquisitions) {
    if (one.won) beliefs_of(one, all).read();
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const belief& a, const belief& b) { return a.time.from < b.time.from; });
  return all;
}

// One sweep: those who believe at a time are few.
class believers {
 public:
  believers(std::vector<interval> excused, std::vector<violation>& found)
      : excused_(std::move(excused)), found_(found) {}

  void see(const belief& next) {
    std::erase_if(now_, [&](const belief* one) { return one->time.to <= next.time.from; });
    if (const auto* const other = conflict(next)) report(*other, next);
    now_.push_back(&next);
  }

 private:
  // Permits, and what says no mode, are counted.
  const belief* conflict(const belief& next) const {
    auto taken = next.of->part();
    const belief* last = nullptr;  // to end, of those that are counted
    for (const auto* one : now_) {
      if (one->of == next.of || is_excused(*one, next)) continue;
      if (one->first.mode && next.first.mode) {
        if (!go_together(*one->first.mode, *next.first.mode)) return one;
        continue;
      }
      taken += one->of->part();
      if (last == nullptr || one->time.to > last->time.to) last = one;
    }
    return taken > next.of->whole() ? last : nullptr;
  }

  bool is_excused(const belief& one, const belief& next) const {
    return is_within(excused_, {next.time.from, std::min(one.time.to, next.time.to)});
  }

  void report(const belief& one, const belief& other) {
    if (!reported_.emplace(one.of, other.of).second) return;
    const auto &mode = one.first.mode, &of_other = other.first.mode;
    std::string what = "some believed at once that they hold too much";
    if (mode && of_other && mode != of_other) {
      what = "a lock was believed in " + name_of(*mode) + " by one and in " + name_of(*of_other) +
             " by another";
    } else if (mode || other.of->whole() == 1) {
      what = "two believed at once that they hold a lock";
    }
    violation broken{"I4", "S1, S3", what, {*one.of->won}};
    for (const auto* said : {&one.last, &*other.of->won, &other.first}) {
      if (*said != broken.events.back()) broken.events.push_back(*said);
    }
    found_.push_back(std::move(broken));
  }

  const std::vector<interval> excused_;
  std::vector<violation>& found_;
  std::vector<const belief*> now_;
  std::set<std::pair<const acquisition*, const acquisition*>> reported_;
};

// When the lease with this token was had by its user.
nanoseconds had_from(const acquisition& one, std::uint64_t token) {
  for (const auto& each : one.changes) {
    if (each.made() && each.result->token == token) return each.result->time;
  }
  return one.won->time;
}

// A process that is stopped asks for nothing. So when it runs again after more than a lease,
// nothing is left of what it had before, whatever it asked for just before.
bool outlasts_a_freeze(const acquisition& one, const event& look) {
  const auto from = had_from(one, look.token);
  return std::any_of(one.freezes.begin(), one.freezes.end(), [&](const freeze& each) {
    const bool had_it = from < each.time.from && each.time.to <= look.time;
    return had_it && each.time.to > each.stopped + one.lease();
  });
}

// The writers of each resource, and when they began to write.
using written = std::map<std::pair<std::int64_t, std::uint64_t>, std::vector<nanoseconds>>;

written writes_of(const story& run, const std::string& lock) {
  written all;
  const auto writes = run.writes.find(lock);
  if (writes == run.writes.end()) return all;
  for (const auto& one : writes->second) all[{one.process, one.operation}].push_back(one.time);
  return all;
}

// Between two reads it has written itself, or asked for what lets others in.
bool may_be_changed(const acquisition& one, const written& by, const event& from, const event& to) {
  const auto between = [&](nanoseconds time) { return from.time <= time && time <= to.time; };
  const auto own = by.find({one.called.process, one.called.operation});
  if (own != by.end() && std::ranges::any_of(own->second, between)) return true;
  return std::ranges::any_of(one.changes, [&](const change& each) {
    const auto &had = from.mode, &wanted = each.asked.mode;
    return between(each.asked.time) && !(had && wanted && no_more(*had, *wanted));
  });
}

}  // namespace

void beliefs_go_together(const story& run, std::vector<violation>& found) {
  for (const auto& [lock, by_call] : run.locks) {
    believers now(times_without_exclusion(run, longest_lease(by_call)), found);
    const auto all = all_beliefs(by_call);
    for (const auto& one : all) now.see(one);
  }
}

void beliefs_end_in_time(const story& run, std::vector<violation>& found) {
  const auto fault = [](const acquisition& one, const event& look) -> const char* {
    if (look.what == kind::ended) return nullptr;
    if (look.until > look.time + one.lease()) return "more of a lease was believed than it has";
    if (!outlasts_a_freeze(one, look)) return nullptr;
    return "a lease was believed that had ended while its holder was frozen";
  };
  for (const auto& [lock, by_call] : run.locks) {
    for (const auto& one : by_call) {
      if (!one.won || one.lease() == milliseconds(0)) continue;
      for (const auto& look : one.looks) {
        const auto* const what = fault(one, look);
        if (what == nullptr) continue;
        found.push_back({"I4", "S3", what, {one.called, *one.won, look}});
        break;
      }
    }
  }
}

void nothing_changes_under_holders(const story& run, std::vector<violation>& found) {
  for (const auto& [lock, by_call] : run.locks) {
    const auto excused = times_without_exclusion(run, longest_lease(by_call));
    const auto writes = writes_of(run, lock);
    for (const auto& one : by_call) {
      const auto mine = one.belief();
      const event* first = nullptr;
      for (const auto& read : one.reads) {
        if (first == nullptr || may_be_changed(one, writes, *first, read)) first = &read;
        const bool counts = read.time < mine.to && !is_within(excused, {first->time, read.time});
        if (!counts || read.value == first->value) continue;
        found.push_back({"I13",
                         "S1, S2",
                         "what a holder had read was changed while it had the lock",
                         {*one.won, *first, read}});
        break;
      }
    }
  }
}

}  // namespace holdfast::history
