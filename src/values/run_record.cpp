#include "values/run_record.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/printable.hpp"
#include "redis/calls/idempotent_call.hpp"
#include "redis/locks/redis_engine.hpp"
#include "values/require.hpp"

namespace holdfast::values {
namespace {

using namespace std::chrono_literals;

constexpr milliseconds longest_interval = 366 * 24h;

std::string_view name_of(run_again when) {
  switch (when) {
    case run_again::never:
      return "never";
    case run_again::failed:
      return "failed";
    case run_again::lost:
      return "lost";
  }
  throw failure{errc::invalid_argument, "run_again has no such value"};
}

std::string_view name_of(run_end how) {
  switch (how) {
    case run_end::succeeded:
      return "succeeded";
    case run_end::failed:
      return "failed";
    case run_end::not_started:
      return "not_started";
  }
  throw failure{errc::invalid_argument, "run_end has no such value"};
}

dialects::run_rule rule_of(const once_per_options& options) {
  const auto& [interval, offset, at_least, again, lease] = options;
  require(interval == 0ms || (interval >= 100ms && interval <= longest_interval),
          "interval must be 100 ms to 366 days, or 0");
  require(offset == 0ms || (offset > 0ms && offset < interval),
          "offset must be 0 or more, and less than interval");
  require(at_least >= 0ms && at_least <= longest_interval, "at_least_for must be 0 to 366 days");
  require(interval > 0ms || at_least > 0ms, "one of interval and at_least_for must be given");
  return {interval, offset, at_least, name_of(again)};
}

// A clock that has stepped back may not have got there yet.
std::string age(server_time now, server_time began) {
  const auto seconds =
      std::max<std::int64_t>(0, duration_cast<std::chrono::seconds>(now - began).count());
  if (seconds < 120) return std::to_string(seconds) + "s";
  const auto minutes = seconds / 60;
  if (minutes < 120) return std::to_string(minutes) + "m";
  return std::to_string(minutes / 60) + "h " + std::to_string(minutes % 60) + "m";
}

std::string described(const std::string& name, const dialects::has_run& run, server_time now) {
  const auto how = run.state == "running" ? std::string{"has not ended"} : run.state;
  return "the last run of '" + printable(name) + "' began " + age(now, run.began) + " ago and " +
         how;
}

}  // namespace

run_record::run_record(std::shared_ptr<runtime::client_core> core, std::string_view name,
                       const once_per_options& options)
    : core_(std::move(core)),
      name_(name),
      key_(redis_locks::engine_of(*core_).space(), "run", name),
      rule_(rule_of(options)) {}

result<server_time> run_record::ask(const dialects::once_call& what,
                                    const redis_locks::bound& within) const try {
  const auto answer = calls::ask_once(*core_, what, within);
  const auto verdict = dialects::read_run(key_, answer);
  if (const auto* why = std::get_if<substrate::refused>(&verdict)) {
    return failure{why->code, why->detail};
  }
  if (const auto* run = std::get_if<dialects::has_run>(&verdict)) {
    return failure{errc::has_run, described(name_, *run, answer.now)};
  }
  if (std::holds_alternative<dialects::run_is_stale>(verdict)) {
    return failure{errc::lost, "another run of '" + printable(name_) +
                                   "' has begun, or the record of this one is gone"};
  }
  return answer.now;
} catch (const failure& why) {
  return why;
}

result<server_time> run_record::look(const redis_locks::bound& within, server_time asked) const {
  return ask(dialects::look_for_run(key_, rule_, asked), within);
}

result<void> run_record::begin(fencing_token token, server_time asked,
                               const redis_locks::bound& within) const {
  const auto begun = ask(dialects::begin_run(key_, rule_, token, asked), within);
  return begun ? result<void>{} : begun.error();
}

result<void> run_record::end(fencing_token token, run_end how) const {
  const auto ended =
      ask(dialects::end_run(key_, rule_, token, name_of(how)), redis_locks::unstoppable());
  return ended ? result<void>{} : ended.error();
}

}  // namespace holdfast::values
