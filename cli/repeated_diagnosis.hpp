// Compares each diagnosis of a server with the one before.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <holdfast/errc.hpp>
#include <holdfast/inspector.hpp>

namespace holdfast::cli {

// What a finding says in numbers changes each time, so only another result is a change.
class repeated_diagnosis {
 public:
  // Those that are new, or have another result than before; the first time all of them.
  std::vector<finding> changes(const std::vector<finding>& now) {
    std::map<key, finding> found;
    std::map<std::string, int> seen;
    std::vector<finding> news;
    for (const auto& one : now) {
      const key which{one.server, one.check, seen[one.server + " " + one.check]++};
      const auto before = last_.find(which);
      if (before == last_.end() || before->second.level != one.level) news.push_back(one);
      found.emplace(which, one);
    }
    for (const auto& [which, before] : last_) {
      if (found.contains(which)) continue;
      if (before.level == severity::ok || !is_well(now, before.server)) {
        found.emplace(which, before);  // it may not have been looked at
      } else {
        news.push_back(
            {severity::ok, before.check, "no more: " + before.detail, {}, before.server});
      }
    }
    last_ = std::move(found);
    return news;
  }

  // The server cannot be asked: of the other checks nothing is known.
  std::vector<finding> away(const failure& why) {
    auto& connect = last_[{"", "connect", 0}];
    if (connect.level == severity::problem) return {};
    connect = {severity::problem, "connect", why.what(), {}};
    return {connect};
  }

 private:
  using severity = finding::severity;
  // The server, the check, and which of those with this name: they come in the same order.
  using key = std::tuple<std::string, std::string, int>;

  // A problem may keep other checks from being tried.
  static bool is_well(const std::vector<finding>& now, const std::string& server) {
    return std::ranges::none_of(now, [&](const finding& one) {
      return one.server == server && one.level == severity::problem;
    });
  }

  std::map<key, finding> last_;
};

}  // namespace holdfast::cli
