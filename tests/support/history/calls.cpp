// I10 and I11: calls come back, losses are told, and nothing stays behind.
#include <algorithm>

#include "support/history/checker.hpp"

namespace holdfast::history {

namespace {

// A loss is told once, and at once when its holder could find it out by looking.
void check_losses(const acquisition& one, const bounds& within, std::vector<violation>& found) {
  const auto report = [&](const char* what, std::vector<event> events) {
    events.insert(events.begin(), *one.won);
    found.push_back({"I10", "S4", what, std::move(events)});
  };
  if (one.losses.size() > 1) report("a loss was told twice", one.losses);
  const auto late = within.loss_late + one.frozen;
  const auto told = one.losses.empty() ? never : one.losses.front().time;
  for (const auto& look : one.looks) {
    if (look.what != kind::ended && look.time > told) {
      report("held again after it was lost", {one.losses.front(), look});
    }
    if (look.what == kind::ended && told > look.time + late && !one.killed) {
      report("it had ended, and nobody told", {look});
    }
  }
}

}  // namespace

void calls_return(const story& run, const bounds& within, std::vector<violation>& found) {
  for (const auto& [lock, acquisitions] : run.locks) {
    for (const auto& one : acquisitions) {
      const auto check = [&](const event& begin, nanoseconds returned) {
        const auto latest = begin.until + within.return_late + one.frozen;
        if (begin.until == nanoseconds(0) || returned <= latest || run.end <= latest) return;
        found.push_back({"I10", "L2", "a call did not return in time", {begin}});
        if (returned == never) return;
        found.back().events.push_back(
            one.released.value_or(one.failed.value_or(one.won.value_or(begin))));
      };
      check(one.called, one.returned());
      for (const auto& each : one.changes) {
        if (!one.killed) check(each.asked, each.result ? each.result->time : never);
      }
      if (one.releasing && !one.killed) {
        check(*one.releasing, one.released ? one.released->time : never);
      }
    }
  }
}

void losses_are_told(const story& run, const bounds& within, std::vector<violation>& found) {
  for (const auto& [lock, acquisitions] : run.locks) {
    for (const auto& one : acquisitions) {
      if (one.won) check_losses(one, within, found);
    }
  }
}

void nothing_is_left(const story& run, std::vector<violation>& found) {
  for (const auto& one : run.all(kind::left)) {
    found.push_back({"I11", "L1", "something of the locks is left at the server", {one}});
  }
}

}  // namespace holdfast::history
