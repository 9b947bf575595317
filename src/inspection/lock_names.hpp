// Names of Holdfast's locks that may be held.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/inspector.hpp>

#include "inspection/survey.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// Whether the pattern can match one name only, and is that name.
bool is_one_name(std::string_view pattern) noexcept;

// Collects those that match a pattern. Thread safety: one thread.
class lock_names {
 public:
  lock_names(runtime::client_core& core, std::string_view pattern)
      : core_(core), pattern_(pattern) {}

  void add(std::string name);
  void add_key(std::string_view key);  // if it is that of a lock

  // Those that their holders have written down. False: there were too many, or the index cannot be
  // read, which is noted then. Throws failure when it is to stop.
  bool read_index(survey& over, const list_options& options);

  // How many have not been taken.
  std::size_t untaken() const noexcept { return untaken_.size(); }
  // Those that came since the last call, sorted. None is taken twice.
  std::vector<std::string> take();

 private:
  runtime::client_core& core_;
  const std::string_view pattern_;
  std::set<std::string> names_;  // all that came
  std::vector<std::string> untaken_;
};

}  // namespace holdfast::inspection
