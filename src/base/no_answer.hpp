// The fate of a command that has no answer, as far as it is known.
#pragma once

#include <cstdint>

namespace holdfast {

enum class no_answer : std::uint8_t {
  not_sent,     // it never left this process: nothing can have happened at the server
  unreachable,  // the same, and the server has never been reached at all: waiting is no use
  unknown,      // it may or may not have been executed
};

}  // namespace holdfast
