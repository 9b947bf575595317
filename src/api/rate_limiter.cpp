#include <holdfast/rate_limiter.hpp>

#include <utility>

#include <holdfast/client.hpp>

#include "values/permits.hpp"

namespace holdfast {

rate_limiter client::rate_limiter(std::string_view name, rate_limit limit) const {
  return {core_, name, limit};
}

rate_limiter::rate_limiter(std::shared_ptr<runtime::client_core> core, std::string_view name,
                           rate_limit limit)
    : core_(std::move(core)),
      key_(std::make_shared<dialects::value_key>(core_->engine().space(), "rate", name)),
      name_(name),
      limit_(limit) {
  values::check_limit(limit);
}

rate_verdict rate_limiter::try_acquire(std::uint32_t n) const {
  return values::permits{*core_, *key_, limit_}.take(n);
}

void rate_limiter::acquire(std::uint32_t n, const acquire_options& options,
                           const std::stop_token& stop) const {
  values::permits{*core_, *key_, limit_}.wait_for(n, options, stop);
}

}  // namespace holdfast
