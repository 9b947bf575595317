// The keys of a database, found by SCAN in steps.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/client_core.hpp"

namespace holdfast::api {

// Looks at no more than a number of keys, of all servers together. Thread safety: one thread.
class key_scan {
 public:
  key_scan(runtime::client_core& core, std::size_t most) : core_(core), left_(most) {}

  // Takes the keys of one step, of which one may come again in another; false: they are enough.
  using taking = std::function<bool(const std::vector<std::string>&)>;

  // True when those were all that match on this server. Throws failure when it cannot be asked.
  bool walk(redis::connection& over, std::string_view match, const taking& take);

 private:
  runtime::client_core& core_;
  std::size_t left_;
};

}  // namespace holdfast::api
