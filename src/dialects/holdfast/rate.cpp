#include "dialects/holdfast/rate.hpp"

#include "base/number.hpp"
#include "holdfast_scripts.hpp"

namespace holdfast::dialects {

once_call rate_take(const value_key& limiter, nanoseconds cost, nanoseconds all,
                    microseconds longest_wait) {
  return {scripts::holdfast_rate,
          limiter.slot,
          {limiter.key},
          {std::to_string(cost.count()), std::to_string(all.count()),
           std::to_string(longest_wait.count())}};
}

std::variant<rate_taken, rate_exceeded, refused> read_rate(const value_key& limiter,
                                                           const once_answer& answer) {
  if (answer.word == "foreign") return not_a(limiter, "rate limiter");
  const auto micros = parse_number<std::int64_t>(answer.rest);
  if (micros && answer.word == "due") return rate_taken{server_time(microseconds(*micros))};
  if (micros && answer.word == "wait") return rate_exceeded{microseconds(*micros)};
  return unknown_answer(answer);
}

}  // namespace holdfast::dialects
