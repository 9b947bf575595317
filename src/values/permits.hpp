// Permits that come at a rate, for all processes together.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/options.hpp>
#include <holdfast/rate_limiter.hpp>

#include "base/time.hpp"
#include "redis/dialects/holdfast/rate.hpp"
#include "redis/locks/blocking_request.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::values {

// How many there are, and where the server counts them.
class permits {
 public:
  // Throws failure{errc::invalid_name}, and {errc::invalid_argument} unless there can be such a
  // rate.
  permits(std::shared_ptr<runtime::client_core> core, std::string_view name,
          const rate_limit& limit);

  const std::string& name() const noexcept { return name_; }

  // See rate_limiter::try_acquire and rate_limiter::acquire.
  rate_verdict take(std::uint32_t n) const;
  void wait_for(std::uint32_t n, const acquire_options& options, const std::stop_token& stop) const;

 private:
  struct reservation {
    rate_verdict verdict;  // taken: `wait` is how long until the permits may be used
    server_time due{};
  };
  reservation reserve(std::uint32_t n, microseconds longest,
                      const redis_locks::bound& within = {}) const;
  void give_back(std::uint32_t n, server_time due) const;
  void check_number(std::uint32_t n) const;
  nanoseconds time_of(std::uint32_t n) const;

  const std::shared_ptr<runtime::client_core> core_;
  const dialects::value_key key_;
  const std::string name_;
  const rate_limit limit_;
};

// How long one permit takes to come back at `rate` in a second: never less, by no more than 1 ns.
nanoseconds time_of_one(double rate);

}  // namespace holdfast::values
