#include <holdfast/rate_limiter.hpp>

#include <holdfast/client.hpp>

#include "values/permits.hpp"

namespace holdfast {

class rate_limiter::state final : public values::permits {
  using permits::permits;
};

rate_limiter client::rate_limiter(std::string_view name, rate_limit limit) const {
  return holdfast::rate_limiter{
      std::make_shared<const holdfast::rate_limiter::state>(core_, name, limit)};
}

const std::string& rate_limiter::name() const noexcept { return state_->name(); }

rate_verdict rate_limiter::try_acquire(std::uint32_t n) const { return state_->take(n); }

void rate_limiter::acquire(std::uint32_t n, const acquire_options& options,
                           const std::stop_token& stop) const {
  state_->wait_for(n, options, stop);
}

}  // namespace holdfast
