// The keys of a database, found by SCAN in steps.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/inspector.hpp>

#include "inspection/survey.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::inspection {

// Throws failure{cancelled} when the search is to stop.
void check_stop(const list_options& options);
// Of one round trip of the search.
redis_locks::bound until_stopped(const list_options& options);

// Looks at no more than a number of keys, of all servers together. Thread safety: one thread.
class key_scan {
 public:
  // `options` must outlive it.
  key_scan(runtime::client_core& core, survey& over, const list_options& options)
      : core_(core), survey_(over), options_(options), left_(options.most_scanned) {}

  // How many keys all servers have, whosever they are; 0 where the user may not know. Throws
  // failure when none can be asked.
  std::size_t count();

  // Takes the keys of one step, of which one may come again in another; false: they are enough.
  using taking = std::function<bool(std::vector<std::string>)>;

  // True when those were all that match, on the servers that can be asked. Throws failure when none
  // can be, and when it is to stop.
  bool walk(std::string_view match, const taking& take);

 private:
  bool walk(redis::connection& at, std::string_view match, const taking& take);

  runtime::client_core& core_;
  survey& survey_;
  const list_options& options_;
  std::size_t left_;
  std::size_t scanned_ = 0;
  std::size_t keys_ = 0;
};

}  // namespace holdfast::inspection
