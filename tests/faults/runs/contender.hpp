// A thread that takes locks, changes what they protect, and tells all of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "faults/runs/recorder.hpp"
#include "faults/runs/resource.hpp"

namespace holdfast::faults {

// What a call to the server may take at most before it counts as unanswered.
inline constexpr milliseconds patience{500};

// A way to have a lock.
struct access {
  lock target;
  // Of it, as in history::event. Who has the whole changes what the lock protects, others read it.
  std::uint32_t part = 0;
  std::uint32_t whole = 0;
  bool joins = false;  // others of his client, as readers do
};

struct contended {
  std::string name;
  lock_options options;
  std::vector<access> ways;
  milliseconds least_hold{};  // who has it keeps it so long, while faults may happen
};

// Thread safety: one thread at a time.
class contender {
 public:
  // `resources`: the socket of what the locks protect; `process`: as which it is told of; `until`:
  // faults may happen.
  contender(std::vector<contended> locks, const std::string& resources, tokens mode,
            std::int64_t process, history::nanoseconds until, recorder& log, std::uint64_t seed);

  // Returns when it has had every lock once more after that.
  void run();

 private:
  std::size_t any(std::size_t below) { return random_() % below; }
  void take(const contended& one, milliseconds timeout);
  void hold(lease got, bool has_all);
  void change(lease& got);
  void read_twice(const lease& got);
  void take_time();
  bool look(const lease& got);
  static void wait_for(const std::atomic<bool>& told);
  void tell(history::kind what, const std::function<void(history::event&)>& details);

  const std::vector<contended> locks_;
  resource resource_;
  const std::int64_t process_;
  const history::nanoseconds until_;
  recorder& log_;
  std::mt19937_64 random_;
  history::event turn_;  // what all events of the present acquisition have
  milliseconds least_hold_{};
};

}  // namespace holdfast::faults
