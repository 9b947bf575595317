#include "redis/dialects/holdfast/rate.hpp"

#include "base/number.hpp"
#include "holdfast_scripts.hpp"

namespace holdfast::dialects {
namespace {

once_call change(const value_key& limiter, nanoseconds cost, nanoseconds all, microseconds bound) {
  return {
      scripts::holdfast_rate,
      limiter.slot,
      {limiter.key},
      {std::to_string(cost.count()), std::to_string(all.count()), std::to_string(bound.count())}};
}

}  // namespace

once_call rate_take(const value_key& limiter, nanoseconds cost, nanoseconds all,
                    microseconds longest_wait) {
  return change(limiter, cost, all, longest_wait);
}

once_call rate_give_back(const value_key& limiter, nanoseconds cost, nanoseconds all,
                         server_time due) {
  return change(limiter, -cost, all, due.time_since_epoch());
}

std::variant<rate_taken, rate_exceeded, refused> read_rate(const value_key& limiter,
                                                           const once_answer& answer) {
  if (answer.word == "foreign") return not_a(limiter, "rate limiter");
  const auto micros = parse_number<std::int64_t>(answer.rest);
  if (micros && answer.word == "due") return rate_taken{server_time(microseconds(*micros))};
  if (micros && answer.word == "wait") return rate_exceeded{microseconds(*micros)};
  return unknown_answer(answer);
}

std::variant<bool, refused> read_given_back(const value_key& limiter, const once_answer& answer) {
  if (answer.word == "foreign") return not_a(limiter, "rate limiter");
  if (answer.word == "back") return true;
  if (answer.word == "kept") return false;
  return unknown_answer(answer);
}

}  // namespace holdfast::dialects
