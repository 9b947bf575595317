// A history as a list of acquisitions and faults.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "support/history/event.hpp"

namespace holdfast::history {

inline constexpr auto never = nanoseconds::max();

struct interval {
  nanoseconds from{};
  nanoseconds to{};
  bool overlaps(const interval& other) const { return from < other.to && other.from < to; }
  bool contains(const interval& other) const { return from <= other.from && other.to <= to; }
};

// A process that runs no more for a while: from `time.from` at the earliest, and certainly from
// `stopped`.
struct freeze {
  interval time;
  nanoseconds stopped{};
};

// The lease becomes something else.
struct change {
  event asked;
  std::optional<event> result;  // changed or unchanged
  bool made() const { return result && result->what == kind::changed; }
};

// One acquisition from its call to the end of its lease.
struct acquisition {
  event called;
  std::optional<event> won;
  std::optional<event> failed;  // or unclear
  std::vector<event> looks;     // held, believed or ended
  std::vector<event> losses;
  std::vector<event> reads;
  std::vector<change> changes;
  std::optional<event> releasing;
  std::optional<event> released;
  std::optional<event> killed;             // its process, before it was released
  std::vector<freeze> freezes;             // of its process, meanwhile
  std::optional<nanoseconds> frozen_from;  // the last of them
  nanoseconds frozen{};                    // how long in all

  // So much of the lock it takes, and so much there is.
  std::uint64_t part() const { return called.whole == 0 ? 1 : called.part; }
  std::uint64_t whole() const { return called.whole == 0 ? 1 : called.whole; }

  // The longest that it has asked for.
  milliseconds lease() const;

  // When it returned, or can no more.
  nanoseconds returned() const;

  // While its owner is certain to hold the lock; empty when it never did.
  interval belief() const;

  // When that was over for good: it was given back, or found or told to be lost.
  nanoseconds over() const;
};

struct story {
  explicit story(std::vector<event> history);  // by time

  // For each lock its acquisitions, in the order of their calls.
  std::map<std::string, std::vector<acquisition>> locks;
  // For each lock, in the order of `value`.
  std::map<std::string, std::vector<event>> writes;
  // All the others, in order: acts of the server, and faults of the run.
  std::vector<event> others;
  nanoseconds end{};

  // The others of this kind.
  std::vector<event> all(kind what) const;
};

}  // namespace holdfast::history
