#include "faults/runs/divided_run.hpp"

#include <poll.h>

#include <algorithm>
#include <set>

namespace holdfast::faults {

using history::kind;

void divided_run::play(const std::vector<std::vector<contended>>& parties, const division& how,
                       milliseconds divided, bool forgotten,
                       const std::function<void()>& meanwhile) {
  run_.play(parties, divided, [&] { divide(how, divided, forgotten, meanwhile); });
}

void divided_run::divide(const division& how, milliseconds divided, bool forgotten,
                         const std::function<void()>& meanwhile) {
  const auto begin = time_now();
  how.begin();
  divided_.from = time_now();
  meanwhile();
  const auto left = std::chrono::floor<milliseconds>(begin + divided - time_now());
  ::poll(nullptr, 0, std::max(0, int(left.count())));
  divided_.to = time_now();
  how.end();
  const auto end = time_now();
  run_.record({.time = begin, .what = kind::broken, .until = end});
  if (forgotten) run_.record({.time = begin, .what = kind::emptied, .until = end});
  run_.record({.time = end, .what = kind::healed});
}

std::size_t divided_run::won(std::size_t party, milliseconds after) const {
  std::set<std::uint64_t> asked;
  std::size_t count = 0;
  for (const auto& one : run_.events()) {
    if (one.process != std::int64_t(party + 1) || one.time > divided_.to) continue;
    if (one.what == kind::called && one.time > divided_.from + after) asked.insert(one.operation);
    if (one.what == kind::won && asked.contains(one.operation)) ++count;
  }
  return count;
}

}  // namespace holdfast::faults
