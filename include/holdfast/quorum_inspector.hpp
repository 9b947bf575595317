/// \file
/// Looking at the servers of a quorum from outside: for operators and their tools.
#pragma once

#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/inspector.hpp>

namespace holdfast {

/// Checks whether servers are fit to be the members of a quorum.
///
/// Thread safety: one object may be used from any number of threads. All calls block: each member
/// is asked in its turn, each round trip at most its client's `response_timeout`.
class quorum_inspector {
 public:
  /// Throws as `quorum` does.
  explicit quorum_inspector(std::vector<client> members);

  /// What `inspector::diagnose` says of each member, behind its address; and of all together: how
  /// many answer, whether they are different servers and an odd number, and how far their clocks
  /// are from each other. Never throws for what a server does: that is a finding.
  [[nodiscard]] std::vector<finding> diagnose() const;

 private:
  std::vector<client> members_;
};

}  // namespace holdfast
