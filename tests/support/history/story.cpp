#include "support/history/story.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace holdfast::history {

namespace {

void add(acquisition& to, const event& one) {
  switch (one.what) {
    case kind::won:
      to.won = one;
      break;
    case kind::failed:
    case kind::unclear:
      to.failed = one;
      break;
    case kind::held:
    case kind::believed:
    case kind::ended:
      to.looks.push_back(one);
      break;
    case kind::lost:
      to.losses.push_back(one);
      break;
    case kind::saw:
      to.reads.push_back(one);
      break;
    case kind::changing:
      to.changes.push_back({one, std::nullopt});
      break;
    case kind::changed:
    case kind::unchanged:
      if (to.changes.empty()) throw std::invalid_argument("no change was begun: " + to_line(one));
      to.changes.back().result = one;
      break;
    case kind::releasing:
      to.releasing = one;
      break;
    case kind::released:
      to.released = one;
      break;
    default:
      break;
  }
}

// A fault of a process.
struct fate {
  std::optional<event> killed;
  std::vector<freeze> frozen;  // the last one perhaps to the end
};

std::map<std::int64_t, fate> fates(const std::vector<event>& others) {
  std::map<std::int64_t, fate> all;
  for (const auto& one : others) {
    if (one.what == kind::killed) all[one.process].killed = one;
    if (one.what == kind::frozen) {
      all[one.process].frozen.push_back({{one.time, never}, std::max(one.time, one.until)});
    }
    if (one.what == kind::thawed && !all[one.process].frozen.empty())
      all[one.process].frozen.back().time.to = one.time;
  }
  return all;
}

void note_fate(acquisition& of, const fate& process) {
  if (!of.released && !of.failed) of.killed = process.killed;
  const auto over = of.released ? of.released->time : of.failed ? of.failed->time : never;
  for (const auto& frozen : process.frozen) {
    const auto& time = frozen.time;
    if (!time.overlaps({of.called.time, over})) continue;
    of.freezes.push_back(frozen);
    of.frozen_from = time.from;
    of.frozen += time.to == never ? nanoseconds(0) : time.to - time.from;
  }
}

bool is_of_an_acquisition(kind what) { return what <= kind::released; }
bool is_of_a_resource(kind what) { return what == kind::written || what == kind::refused; }

}  // namespace

milliseconds acquisition::lease() const {
  auto longest = called.lease;
  for (const auto& one : changes) longest = std::max(longest, one.asked.lease);
  return longest;
}

nanoseconds acquisition::returned() const {
  auto when = won ? won->time : failed ? failed->time : never;
  return killed ? std::min(when, killed->time) : when;
}

nanoseconds acquisition::over() const {
  auto when = losses.empty() ? never : losses.front().time;
  for (const auto& look : looks) {
    if (look.what == kind::ended) when = std::min(when, look.time);
  }
  return releasing ? std::min(when, releasing->time) : when;
}

interval acquisition::belief() const {
  if (!won) return {};
  auto to = won->until;
  for (const auto& look : looks) {
    if (look.what != kind::ended) to = std::max(to, look.until);
  }
  for (const auto& one : changes) {
    if (one.made()) to = std::max(to, one.result->until);
  }
  return {won->time, std::max(std::min(to, over()), won->time)};
}

story::story(std::vector<event> history) {
  using key = std::pair<std::int64_t, std::uint64_t>;
  std::map<key, acquisition> acquisitions;
  for (const auto& one : history) {
    if (is_of_a_resource(one.what)) {
      writes[one.lock].push_back(one);
    } else if (!is_of_an_acquisition(one.what)) {
      others.push_back(one);
    } else if (one.what == kind::called) {
      acquisitions[{one.process, one.operation}].called = one;
    } else if (const auto found = acquisitions.find({one.process, one.operation});
               found != acquisitions.end()) {
      add(found->second, one);
    } else {
      throw std::invalid_argument("nothing was called: " + to_line(one));
    }
  }
  if (!history.empty()) end = history.back().time;
  const auto processes = fates(others);
  for (auto& [id, one] : acquisitions) {
    const auto process = processes.find(id.first);
    if (process != processes.end()) note_fate(one, process->second);
    locks[one.called.lock].push_back(std::move(one));
  }
  for (auto& [name, list] : locks) {
    std::stable_sort(list.begin(), list.end(), [](const acquisition& a, const acquisition& b) {
      return a.called.time < b.called.time;
    });
  }
  for (auto& [name, list] : writes) {
    std::stable_sort(list.begin(), list.end(),
                     [](const event& a, const event& b) { return a.value < b.value; });
  }
}

std::vector<event> story::all(kind what) const {
  std::vector<event> found;
  std::copy_if(others.begin(), others.end(), std::back_inserter(found),
               [what](const event& one) { return one.what == what; });
  return found;
}

}  // namespace holdfast::history
