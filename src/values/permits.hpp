// Permits that come at a rate, for all processes together.
#pragma once

#include <cstdint>
#include <stop_token>

#include <holdfast/options.hpp>
#include <holdfast/rate_limiter.hpp>

#include "dialects/holdfast/rate.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::values {

// How many there are, and where the server counts them.
struct permits {
  runtime::client_core& core;
  const dialects::value_key& key;
  const rate_limit& limit;

  // See rate_limiter::try_acquire and rate_limiter::acquire.
  rate_verdict take(std::uint32_t n) const;
  void wait_for(std::uint32_t n, const acquire_options& options, const std::stop_token& stop) const;
};

// How long one permit takes to come back at `rate` in a second: never less, by no more than 1 ns.
nanoseconds time_of_one(double rate);

// Throws failure{errc::invalid_argument} unless there can be such a rate.
void check_limit(const rate_limit& limit);

}  // namespace holdfast::values
