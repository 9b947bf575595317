// The resources that the locks of a run protect: numbers in a Redis of their own, and a log of who
// changed them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/history/event.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::faults {

enum class tokens { checked, ignored };

// One number for each lock. With checked tokens, the server refuses to read and write with a
// smaller token than an earlier one. (To read, too: a late reader would add to an old number, and
// an update would be lost.) The server keeps a log of all writes: a writer may die before it can
// tell. Thread safety: one thread at a time.
class resource {
 public:
  resource(const std::string& socket, tokens mode);

  // The number, for changing it; nothing when refused.
  std::optional<std::uint64_t> read(const std::string& lock, std::uint64_t token);

  // Who, when and under which token is in `by`.
  bool write(const history::event& by, std::uint64_t number);

  // All writes of this lock, accepted and refused, and the number at the end.
  std::vector<history::event> log(const std::string& lock);

 private:
  support::raw_connection connection_;
  tokens mode_;
};

}  // namespace holdfast::faults
