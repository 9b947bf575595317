#include <holdfast/barrier.hpp>
#include <holdfast/client.hpp>
#include <memory>
#include <utility>

#include "api/native_locks.hpp"
#include "redis/dialects/catalog.hpp"

namespace holdfast {

barrier client::barrier(std::string_view name, std::uint32_t parties) const {
  if (parties < 1 || parties > 1000) {
    throw failure{errc::invalid_argument, "parties must be 1 to 1,000"};
  }
  auto wants =
      std::make_shared<const substrate::demand>(substrate::demand{.mode = 'b', .limit = parties});
  return holdfast::barrier{
      api::make_gate(core_, name, dialects::native_barrier(), std::move(wants))};
}

std::uint32_t barrier::parties() const noexcept { return api::demand_of(gate_).limit; }

std::uint64_t barrier::arrive_and_wait(const acquire_options& options, std::stop_token stop) const {
  return detail::outcome_as<std::uint64_t>(gate_.acquire(options, std::move(stop)));
}

result<std::uint64_t> barrier::try_arrive_and_wait(const acquire_options& options,
                                                   std::stop_token stop) const {
  return detail::outcome_as<result<std::uint64_t>>(gate_.try_acquire(options, std::move(stop)));
}

detail::acquire_awaitable<std::uint64_t> barrier::async_arrive_and_wait(
    acquire_options options, std::stop_token stop) const {
  using patience = detail::acquire_operation::patience;
  return detail::acquire_awaitable<std::uint64_t>{
      detail::acquire_operation{gate_, options, std::move(stop), patience::waits}};
}

detail::acquire_awaitable<result<std::uint64_t>> barrier::async_try_arrive_and_wait(
    acquire_options options, std::stop_token stop) const {
  using patience = detail::acquire_operation::patience;
  return detail::acquire_awaitable<result<std::uint64_t>>{
      detail::acquire_operation{gate_, options, std::move(stop), patience::asks_once}};
}

}  // namespace holdfast
