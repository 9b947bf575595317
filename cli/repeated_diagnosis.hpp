// What has changed from one diagnosis of a server to the next.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/errc.hpp>
#include <holdfast/inspector.hpp>

namespace holdfast::cli {

// Findings name their check, and those about several servers come in the same order each time. What
// a finding says in numbers changes each time, so only another result is a change.
class repeated_diagnosis {
 public:
  // Those that are new, or have another result than before; a check that is missing now counts as
  // ok. The first time all of them.
  std::vector<finding> changes(const std::vector<finding>& now) {
    std::map<key, finding> found;
    std::map<std::string, int> seen;
    std::vector<finding> news;
    for (const auto& one : now) {
      const key which{one.check, seen[one.check]++};
      const auto before = last_.find(which);
      if (before == last_.end() || before->second.level != one.level) news.push_back(one);
      found.emplace(which, one);
    }
    for (const auto& [which, before] : last_) {
      const bool is_over = before.level != finding::severity::ok && !found.contains(which);
      if (is_over) news.push_back({.check = which.first, .detail = "found no more", .remedy = {}});
    }
    last_ = std::move(found);
    return news;
  }

  // The server cannot be asked: of the other checks nothing is known.
  std::vector<finding> away(const failure& why) {
    auto& connect = last_[{"connect", 0}];
    if (connect.level == finding::severity::problem) return {};
    connect = {finding::severity::problem, "connect", why.what(), {}};
    return {connect};
  }

 private:
  using key = std::pair<std::string, int>;  // the check, and which of those with this name
  std::map<key, finding> last_;
};

}  // namespace holdfast::cli
