// Rate limiters: `hf:rate:{N}`, when all permits will be there again.
#pragma once

#include <variant>

#include "redis/dialects/holdfast/once.hpp"

namespace holdfast::dialects {

// `cost` is how long the permits take to come back; `all`, how long all that there are take.
once_call rate_take(const value_key&, nanoseconds cost, nanoseconds all, microseconds longest_wait);
// Of permits that are due later.
once_call rate_give_back(const value_key&, nanoseconds cost, nanoseconds all, server_time due);

struct rate_taken {
  server_time due;  // they may be used from then on
  friend bool operator==(const rate_taken&, const rate_taken&) = default;
};
struct rate_exceeded {
  microseconds wait{};  // so long it would take; nothing was taken
  friend bool operator==(const rate_exceeded&, const rate_exceeded&) = default;
};
std::variant<rate_taken, rate_exceeded, refused> read_rate(const value_key&, const once_answer&);

// False: somebody has asked later, so they come back only with time.
std::variant<bool, refused> read_given_back(const value_key&, const once_answer&);

}  // namespace holdfast::dialects
