// The story of the stock: the same sale four times, each time with another idea of locking.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::cli::demo {

enum class scenario { no_lock, setnx, holdfast, fenced };

struct sale {
  int processes = 4;
  int threads = 250;  // of each process
  int units = 10'000;

  int buyers() const { return processes * threads; }
  // At least 200 orders in all, so that small sales have enough of them for their faults.
  int orders_per_buyer() const { return buyers() >= 100 ? 2 : (200 + buyers() - 1) / buyers(); }
  // Buyers together want about a third more than there is.
  int most_per_order() const {
    const double average = 1.3 * units / (static_cast<double>(buyers()) * orders_per_buyer());
    return average < 1 ? 1 : static_cast<int>(2 * average);
  }
};

// One recorded order, as the application wrote it to its list in Redis.
struct order {
  std::int64_t at_us = 0;  // CLOCK_MONOTONIC, which all processes of the machine share
  std::int64_t units = 0;
  std::int64_t left = 0;  // the stock it wrote
  pid_t buyer = 0;
};

struct outcome {
  scenario what = scenario::no_lock;
  std::vector<order> orders;
  std::int64_t began_us = 0;
  double seconds = 0;
  std::int64_t units = 0;
  std::int64_t sold = 0;
  std::int64_t left = 0;
  std::int64_t foreign_deleted = 0;
  std::int64_t late_refused = 0;
  int frozen = 0;
  bool saw_two_inside = false;  // a third entered beside the second, whose key was deleted
  bool workers_succeeded = true;

  double seconds_at(const order& one) const {
    return static_cast<double>(one.at_us - began_us) / 1e6;
  }

  // How many units were sold beyond the stock: zero when the books balance.
  std::int64_t error() const { return sold + left - units; }
  bool exact() const { return workers_succeeded && error() == 0 && left >= 0; }
  // Whether the scenario has shown its point. One with a frozen holder whose write nobody had to
  // refuse has proved nothing.
  bool as_promised() const {
    if (!workers_succeeded) return false;
    switch (what) {
      case scenario::no_lock:
        return error() > 0;
      case scenario::setnx:
        return error() > 0 && foreign_deleted > 0 && saw_two_inside;
      case scenario::holdfast:
        return exact();
      case scenario::fenced:
        return exact() && late_refused > 0 && frozen > 0;
    }
    return false;
  }
};

inline const char* title(scenario what) {
  switch (what) {
    case scenario::no_lock:
      return "(a) no lock";
    case scenario::setnx:
      return "(b) SETNX, plain DEL";
    case scenario::holdfast:
      return "(c) Holdfast";
    case scenario::fenced:
      return "(d) Holdfast, frozen holder";
  }
  return "";
}

inline const char* key_of(scenario what) {
  constexpr const char* keys[] = {"no_lock", "setnx", "holdfast", "fenced"};
  return keys[static_cast<int>(what)];
}

}  // namespace holdfast::cli::demo
