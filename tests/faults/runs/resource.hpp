// What the locks of a run protect: numbers in a Redis of their own, and who changed them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/history/event.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::faults {

enum class tokens { checked, ignored };

// One number for each lock. With checked tokens, reading and writing are refused to whoever comes
// with a smaller token than somebody before. (Reading too: what is added to an old number would be
// lost otherwise.) The server keeps a log of all writes: a writer may die before it can tell.
// Thread safety: one thread at a time.
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
