#include <algorithm>
#include <cmath>
#include <utility>

#include <holdfast/client.hpp>
#include <holdfast/rate_limiter.hpp>

#include "api/checks.hpp"
#include "calls/idempotent_call.hpp"
#include "calls/wait_till.hpp"
#include "dialects/holdfast/rate.hpp"
#include "net/clock.hpp"

namespace holdfast {
namespace {

// Longer than anybody waits, and exact in the scripts.
constexpr milliseconds longest_wait = std::chrono::hours(10 * 365 * 24);

void require(bool good, const char* what) {
  if (!good) throw failure{errc::invalid_argument, what};
}

void check_limit(const rate_limit& limit) {
  constexpr double month = 30.0 * 86'400;
  require(limit.rate > 0 && limit.rate <= 1e6, "rate must be above 0 and at most a million");
  require(limit.burst >= 1 && limit.burst <= 1'000'000, "burst must be 1 to a million");
  require(limit.burst / limit.rate <= month, "burst / rate must be at most 30 days");
}

nanoseconds time_of(double permits, const rate_limit& limit) {
  return nanoseconds{std::llround(permits * 1e9 / limit.rate)};
}

struct reservation {
  rate_verdict verdict;  // taken: `wait` is how long until the permits may be used
  server_time due{};
};

reservation take(runtime::client_core& core, const dialects::value_key& key,
                 const rate_limit& limit, std::uint32_t permits, microseconds longest,
                 const runtime::bound& within = {}) {
  const auto reply = calls::ask_once(
      core, dialects::rate_take(key, time_of(permits, limit), time_of(limit.burst, limit), longest),
      within);
  auto verdict = dialects::read_rate(key, reply);
  if (const auto* exceeded = std::get_if<dialects::rate_exceeded>(&verdict)) {
    return {{false, exceeded->wait}};
  }
  const auto due = calls::accept(std::move(verdict)).due;
  return {{true, std::max(due - reply.now, microseconds{0})}, due};
}

// Waits no longer for that than for one answer: its caller has been called off.
void give_back(runtime::client_core& core, const dialects::value_key& key, const rate_limit& limit,
               std::uint32_t permits, server_time due) {
  const auto reply = calls::ask_once(
      core,
      dialects::rate_give_back(key, time_of(permits, limit), time_of(limit.burst, limit), due),
      {net::now() + core.engine().options().response_timeout});
  (void)calls::accept(dialects::read_given_back(key, reply));
}

}  // namespace

rate_limiter client::rate_limiter(std::string_view name, rate_limit limit) const {
  return {core_, name, limit};
}

rate_limiter::rate_limiter(std::shared_ptr<runtime::client_core> core, std::string_view name,
                           rate_limit limit)
    : core_(std::move(core)),
      key_(std::make_shared<dialects::value_key>(core_->engine().space(), "rate", name)),
      name_(name),
      limit_(limit) {
  check_limit(limit);
}

rate_verdict rate_limiter::try_acquire(std::uint32_t n) const {
  require(n >= 1 && n <= limit_.burst, "1 to `burst` permits can be taken");
  auto verdict = take(*core_, *key_, limit_, n, microseconds{0}).verdict;
  if (verdict.taken) verdict.wait = {};
  return verdict;
}

void rate_limiter::acquire(std::uint32_t n, const acquire_options& options,
                           const std::stop_token& stop) const {
  require(n >= 1 && n <= limit_.burst, "1 to `burst` permits can be taken");
  const auto timeout = options.timeout.value_or(core_->engine().options().default_timeout);
  api::check_timeout(timeout);
  if (stop.stop_requested()) throw failure{errc::cancelled};
  const auto ends = timeout < longest_wait ? net::now() + timeout : monotonic_time::max();
  // Without time to wait it asks once.
  const bool waits = timeout > milliseconds{0};
  const auto [verdict, due] = take(*core_, *key_, limit_, n, std::min(timeout, longest_wait),
                                   {waits ? ends : monotonic_time::max(), stop, errc::timed_out});
  if (!verdict.taken) {
    throw failure{errc::timed_out,
                  "the permits will be there in " +
                      std::to_string(std::chrono::ceil<milliseconds>(verdict.wait).count()) +
                      " ms, which is longer than the timeout"};
  }
  const auto usable = net::now() + verdict.wait;
  // The server does not know how long its answer was under way, and what came before.
  const auto late = core_->engine().options().response_timeout;
  const bool is_in_time = ends == monotonic_time::max() || usable <= ends + late;
  if (is_in_time && calls::wait_till(usable, stop)) return;
  try {
    give_back(*core_, *key_, limit_, n, due);
  } catch (const failure&) {
    // They come back with time.
  }
  if (is_in_time) throw failure{errc::cancelled};
  throw failure{errc::timed_out, "the server's answer came too late to wait for the permits"};
}

}  // namespace holdfast
