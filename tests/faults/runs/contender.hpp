// A thread that takes locks, changes what they protect, and tells all of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "faults/runs/observer.hpp"
#include "faults/runs/recorder.hpp"
#include "faults/runs/resource.hpp"

namespace holdfast::faults {

// The longest time of a call to the server before it counts as unanswered.
inline constexpr milliseconds patience{500};

// The lease is to become something else.
struct change_of {
  lock target;
  support::mode to{};
};

// A way to have a lock.
struct access {
  lock target;
  // Of permits, as in history::event: a holder of them all changes the resource, others read it.
  std::uint32_t part = 0;
  std::uint32_t whole = 0;
  bool joins = false;  // others of its client, as readers do
  // The modes that a lease of it may become, by chance. Empty: none.
  std::function<std::optional<change_of>(const lease&, std::mt19937_64&)> change{};
};

struct contended {
  std::string name;
  mutex_options options;
  std::vector<access> ways;
  milliseconds least_hold{};  // a holder keeps it so long, while faults may happen
};

// Thread safety: one thread at a time.
class contender {
 public:
  // `resources`: the socket of what the locks protect; `process`: as which it is told of; `until`:
  // faults may happen.
  contender(std::vector<contended> locks, const std::string& resources, tokens mode,
            std::int64_t process, history::nanoseconds until, recorder& log, observer& sees,
            std::uint64_t seed);

  // Returns when it has had every lock once more after that.
  void run();

 private:
  class possession;

  std::size_t any(std::size_t below) { return random_() % below; }
  void take(const contended& one, milliseconds timeout);
  void hold(lease got, const contended& of, const access& way);
  std::unique_ptr<possession> possess(lease got, history::kind how);
  bool change(std::unique_ptr<possession>& mine, const contended& of, const access& way);
  void tell(history::kind what, const std::function<void(history::event&)>& details);
  static void wait_for(const std::atomic<bool>& told);

  // contender_using.cpp
  void use(const lease& got, bool has_all);
  void add_one(const lease& got);
  void read_twice(const lease& got);
  void take_time();
  bool look(const lease& got);

  const std::vector<contended> locks_;
  resource resource_;
  const std::int64_t process_;
  const history::nanoseconds until_;
  recorder& log_;
  observer& sees_;
  std::mt19937_64 random_;
  history::event turn_;  // the common part of all events of the present acquisition
  milliseconds least_hold_{};
};

}  // namespace holdfast::faults
