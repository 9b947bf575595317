// I5 and I6: a resource that refuses old tokens loses nothing.
#include <algorithm>
#include <map>

#include "support/history/checker.hpp"

namespace holdfast::history {

namespace {

std::vector<event> accepted(const story& run, const std::string& lock) {
  std::vector<event> found;
  const auto writes = run.writes.find(lock);
  if (writes == run.writes.end()) return found;
  std::copy_if(writes->second.begin(), writes->second.end(), std::back_inserter(found),
               [](const event& one) { return one.what == kind::written; });
  return found;
}

// Two that wrote the same: the second had read before the first wrote.
std::vector<event> first_repeated(const std::vector<event>& writes) {
  std::map<std::string, const event*> seen;
  for (const auto& one : writes) {
    const auto [before, fresh] = seen.try_emplace(one.note, &one);
    if (!fresh) return {*before->second, one};
  }
  return {};
}

}  // namespace

void writes_are_in_order(const story& run, std::vector<violation>& found) {
  for (const auto& [lock, all] : run.writes) {
    const auto writes = accepted(run, lock);
    for (std::size_t i = 1; i < writes.size(); ++i) {
      if (writes[i].token >= writes[i - 1].token) continue;
      found.push_back(
          {"I5", "S2", "an old token wrote after a new one", {writes[i - 1], writes[i]}});
    }
  }
}

void no_write_is_lost(const story& run, std::vector<violation>& found) {
  for (const auto& end : run.all(kind::total)) {
    const auto writes = accepted(run, end.lock);
    if (writes.size() == end.value) continue;
    auto shown = first_repeated(writes);
    shown.push_back(end);
    found.push_back(
        {"I6", "S1, S2",
         std::to_string(writes.size()) + " additions of one came to " + std::to_string(end.value),
         shown});
  }
}

}  // namespace holdfast::history
