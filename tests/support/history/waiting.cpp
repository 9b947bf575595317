// I7, I8, I9 and I12: a lock that is free goes to the waiters, in their order.
#include <algorithm>
#include <map>
#include <optional>

#include "support/history/checker.hpp"

namespace holdfast::history {

namespace {

// Why a lock cannot be taken, and what its end then shows.
enum class cause { held, orphaned, unclear, fault };

struct occupation {
  interval time;
  cause why;
  event shown;  // what ended it
};

// While the server may think that this acquisition has the lock; nothing when it never did.
std::optional<occupation> of(const acquisition& one) {
  const nanoseconds lease = one.lease();
  if (one.killed) {
    const auto from = one.won ? one.won->time : one.killed->time;
    return occupation{{from, one.killed->time + lease}, cause::orphaned, *one.killed};
  }
  if (one.failed && one.failed->what == kind::unclear) {
    return occupation{{one.failed->time, one.failed->time + lease}, cause::unclear, *one.failed};
  }
  if (!one.won) return std::nullopt;
  const auto from = one.won->time;
  if (!one.losses.empty()) {
    const auto& told = one.losses.front();
    const auto over = one.frozen_from ? std::max(from, *one.frozen_from) + lease : never;
    return occupation{{from, std::min(told.time, over)}, cause::orphaned, told};
  }
  if (!one.released) return occupation{{from, never}, cause::held, *one.won};
  const auto& released = *one.released;
  if (released.note.empty()) return occupation{{from, released.time}, cause::held, released};
  return occupation{{from, released.time + lease}, cause::orphaned, released};
}

// The faults that keep everybody from taking anything.
std::vector<occupation> faults(const story& run, milliseconds lease) {
  std::vector<occupation> all;
  for (const auto& one : run.others) {
    if (one.what == kind::broken) all.push_back({{one.time, one.until}, cause::fault, one});
    if (one.what == kind::emptied) {
      all.push_back({{one.time, one.until + lease}, cause::fault, one});
    }
  }
  return all;
}

// A change at one time: one waiter or one holder more or less.
struct change {
  nanoseconds time;
  int waiting;
  int occupying;
  const acquisition* waiter;
  const occupation* occupant;
};

std::vector<change> changes(const std::vector<acquisition>& acquisitions,
                            const std::vector<occupation>& occupations, nanoseconds end) {
  std::vector<change> all;
  for (const auto& one : occupations) {
    all.push_back({one.time.from, 0, 1, nullptr, &one});
    all.push_back({one.time.to, 0, -1, nullptr, &one});
  }
  for (const auto& one : acquisitions) {
    if (one.frozen_from) continue;  // nobody owes it anything meanwhile
    all.push_back({one.called.time, 1, 0, &one, nullptr});
    all.push_back({std::min(one.returned(), end), -1, 0, &one, nullptr});
  }
  // A holder that takes it at the same instant leaves no gap.
  std::stable_sort(all.begin(), all.end(), [](const change& a, const change& b) {
    return a.time != b.time ? a.time < b.time : a.occupying > b.occupying;
  });
  return all;
}

// One sweep over the changes: how long the lock was free while somebody waited.
class free_times {
 public:
  free_times(const bounds& within, std::vector<violation>& found)
      : within_(within), found_(found) {}

  void see(const change& next) {
    if (is_open() && next.time - since_ > bound()) report(next);
    const bool was_open = is_open();
    occupying_ += next.occupying;
    if (next.occupying < 0) last_ = next.occupant;
    if (next.waiting > 0) waiters_.emplace(next.waiter, int(waiters_.size()));
    if (next.waiting < 0) waiters_.erase(next.waiter);
    if (!was_open) since_ = next.time;
  }

 private:
  bool is_open() const { return occupying_ == 0 && !waiters_.empty(); }

  nanoseconds bound() const {
    const bool was_released = last_ == nullptr || last_->why == cause::held;
    const auto& grace = was_released ? within_.lock_free : within_.lock_orphaned;
    return grace.at_all + grace.for_each_before * waiters_.begin()->second;
  }

  void report(const change& next) {
    violation broken{"I8", "L2", "the lock was free while somebody waited", {}};
    if (last_ != nullptr && last_->why == cause::orphaned) {
      broken = {"I7", "L1", "nobody got the lock of one that died or lost it", {}};
    } else if (last_ != nullptr && last_->why == cause::unclear) {
      broken = {"I12", "L1", "nobody got the lock after a request without an answer", {}};
    }
    const auto gap = std::chrono::duration_cast<milliseconds>(next.time - since_);
    broken.what += ", for " + std::to_string(gap.count()) + " ms";
    if (last_ != nullptr) broken.events.push_back(last_->shown);
    broken.events.push_back(waiters_.begin()->first->called);
    found_.push_back(std::move(broken));
    since_ = next.time;
  }

  const bounds& within_;
  std::vector<violation>& found_;
  // In the order of their calls, and how many waited already.
  std::map<const acquisition*, int> waiters_;
  int occupying_ = 0;
  const occupation* last_ = nullptr;
  nanoseconds since_{};
};

}  // namespace

void free_lock_is_taken(const story& run, const bounds& within, std::vector<violation>& found) {
  for (const auto& [lock, acquisitions] : run.locks) {
    milliseconds lease{};
    std::vector<occupation> occupations;
    for (const auto& one : acquisitions) {
      lease = std::max(lease, one.lease());
      if (const auto mine = of(one)) occupations.push_back(*mine);
    }
    const auto broken = faults(run, lease);
    occupations.insert(occupations.end(), broken.begin(), broken.end());
    free_times sweep(within, found);
    for (const auto& next : changes(acquisitions, occupations, run.end)) sweep.see(next);
  }
}

void arrival_is_order(const story& run, const bounds& within, std::vector<violation>& found) {
  for (const auto& [lock, acquisitions] : run.locks) {
    std::vector<const acquisition*> served;
    for (const auto& one : acquisitions) {
      if (one.called.note == "fair" && one.won && !one.frozen_from) served.push_back(&one);
    }
    std::stable_sort(served.begin(), served.end(),
                     [](const auto* a, const auto* b) { return a->won->time > b->won->time; });
    const acquisition* first = nullptr;  // to call, of those that were served later
    for (const auto* one : served) {
      if (first != nullptr && first->called.time + within.call_arrives < one->called.time) {
        found.push_back({"I9",
                         "order (L2)",
                         "one was overtaken that stood in the queue of a fair lock",
                         {first->called, one->called, *one->won, *first->won}});
      }
      if (first == nullptr || one->called.time < first->called.time) first = one;
    }
  }
}

void all_are_served_in_the_end(const story& run, const bounds& within,
                               std::vector<violation>& found) {
  const auto healed = run.all(kind::healed);
  if (healed.empty()) return;
  const auto begin = healed.front().time;
  for (const auto& [lock, acquisitions] : run.locks) {
    for (const auto& one : acquisitions) {
      if (one.returned() < begin || one.killed) continue;
      const auto since = std::max(begin, one.called.time);
      const auto latest = since + within.healing;
      const bool gave_up = !one.won && one.called.until < latest;
      if (gave_up || (one.won && one.returned() <= latest)) continue;
      violation broken{"I8", "L2", "not served although nothing fails any more", {one.called}};
      if (one.won) broken.events.push_back(*one.won);
      if (one.failed) broken.events.push_back(*one.failed);
      found.push_back(broken);
    }
  }
}

}  // namespace holdfast::history
