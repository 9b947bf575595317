#include "values/permits.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include <holdfast/errc.hpp>

#include "net/clock.hpp"
#include "redis/calls/idempotent_call.hpp"
#include "redis/calls/wait_till.hpp"
#include "redis/locks/redis_engine.hpp"
#include "values/require.hpp"

namespace holdfast::values {
namespace {

void check(const rate_limit& limit) {
  constexpr double month = 30.0 * 86'400;
  require(limit.rate > 0 && limit.rate <= 1e6, "rate must be above 0 and at most a million");
  require(limit.burst >= 1 && limit.burst <= 1'000'000, "burst must be 1 to a million");
  require(limit.burst / limit.rate <= month, "burst / rate must be at most 30 days");
}

}  // namespace

permits::permits(std::shared_ptr<runtime::client_core> core, std::string_view name,
                 const rate_limit& limit)
    : core_(std::move(core)),
      key_(redis_locks::engine_of(*core_).space(), "rate", name),
      name_(name),
      limit_(limit) {
  check(limit);
}

nanoseconds permits::time_of(std::uint32_t n) const { return n * time_of_one(limit_.rate); }

void permits::check_number(std::uint32_t n) const {
  require(n >= 1 && n <= limit_.burst, "1 to `burst` permits can be taken");
}

permits::reservation permits::reserve(std::uint32_t n, microseconds longest,
                                      const redis_locks::bound& within) const {
  const auto reply = calls::ask_once(
      *core_, dialects::rate_take(key_, time_of(n), time_of(limit_.burst), longest), within);
  auto verdict = dialects::read_rate(key_, reply);
  if (const auto* exceeded = std::get_if<dialects::rate_exceeded>(&verdict)) {
    return {{false, exceeded->wait}};
  }
  const auto due = calls::accept(std::move(verdict)).due;
  return {{true, std::max(due - reply.now, microseconds{0})}, due};
}

// Waits no longer for that than for one answer: its caller has been called off.
void permits::give_back(std::uint32_t n, server_time due) const {
  const auto reply = calls::ask_once(
      *core_, dialects::rate_give_back(key_, time_of(n), time_of(limit_.burst), due),
      redis_locks::unstoppable(net::now() +
                               redis_locks::engine_of(*core_).options().response_timeout));
  (void)calls::accept(dialects::read_given_back(key_, reply));
}

nanoseconds time_of_one(double rate) {
  return nanoseconds{static_cast<nanoseconds::rep>(std::ceil(1e9 / rate))};
}

rate_verdict permits::take(std::uint32_t n) const {
  check_number(n);
  auto verdict = reserve(n, microseconds{0}).verdict;
  if (verdict.taken) verdict.wait = {};
  return verdict;
}

void permits::wait_for(std::uint32_t n, const acquire_options& options,
                       const std::stop_token& given) const {
  check_number(n);
  const auto stop = core_->engine().stop_of_call(given);
  const auto timeout =
      options.timeout.value_or(redis_locks::engine_of(*core_).options().default_timeout);
  require(timeout >= milliseconds{0}, "timeout must be 0 or more");
  if (stop.stop_requested()) throw failure{errc::cancelled};
  const auto ends = net::end_of_wait(timeout);
  // Without time to wait it asks once.
  const bool waits = timeout > milliseconds{0};
  const auto [verdict, due] =
      reserve(n, std::min(timeout, net::longest_wait),
              {waits ? ends : monotonic_time::max(), stop, errc::timed_out});
  if (!verdict.taken) {
    throw failure{errc::timed_out,
                  "the permits will be there in " +
                      std::to_string(std::chrono::ceil<milliseconds>(verdict.wait).count()) +
                      " ms, which is longer than the timeout"};
  }
  const auto usable = net::now() + verdict.wait;
  // The server does not know how long its answer was under way, and what came before.
  const auto late = redis_locks::engine_of(*core_).options().response_timeout;
  const bool is_in_time = ends == monotonic_time::max() || usable <= ends + late;
  if (is_in_time && calls::wait_till(usable, stop)) return;
  try {
    give_back(n, due);
  } catch (const failure&) {
    // They come back with time.
  }
  if (is_in_time) throw failure{errc::cancelled};
  throw failure{errc::timed_out, "the server's answer came too late to wait for the permits"};
}

}  // namespace holdfast::values
