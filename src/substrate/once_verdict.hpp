// The verdict on a request that is executed once, however many copies of it arrive.
#pragma once

#include <string>
#include <variant>

#include "base/time.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::substrate {

// The answer to the request, now or to an earlier copy: `<word> <the rest>`.
struct once_answer {
  std::string word;
  std::string rest;
  server_time now{};
  friend bool operator==(const once_answer&, const once_answer&) = default;
};
using once_verdict = std::variant<once_answer, late, refused>;

}  // namespace holdfast::substrate
