#include "metrics/series.hpp"

namespace holdfast::metering {
namespace {

// Places in `outcomes`.
constexpr std::size_t granted = 0, failed_otherwise = 4;

std::size_t outcome_of(std::optional<errc> why) noexcept {
  if (why == errc::busy) return 1;
  if (why == errc::timed_out) return 2;
  if (why == errc::cancelled) return 3;
  return failed_otherwise;
}

template <typename Number>
void add(std::atomic<Number>& to, Number what) noexcept {
  to.fetch_add(what, std::memory_order_relaxed);
}

}  // namespace

void series::count(const event& what) noexcept {
  switch (what.type) {
    case event_type::asked:
      return add<std::int64_t>(waiters, 1);
    case event_type::granted:
      if (has_holders(what.kind)) add<std::int64_t>(held, 1);
      return answered(what, granted);
    case event_type::refused: {
      const auto outcome = outcome_of(what.error);
      if (outcome == failed_otherwise) failed(what.error);
      return answered(what, outcome);
    }
    case event_type::renewed_late:
      return lateness.count(what.duration);
    case event_type::lost:
      add<std::uint64_t>(losses, 1);
      return ended(what);
    case event_type::released:
      if (what.error) failed(what.error);
      return ended(what);
    case event_type::reconnected:
    case event_type::failed_over:
    case event_type::login_failed:
      return;
  }
}

void series::answered(const event& what, std::size_t outcome) noexcept {
  add<std::int64_t>(waiters, -1);
  acquire[outcome].count(what.duration);
  if (what.waited) wait.count(what.duration);
}

void series::ended(const event& what) noexcept {
  add<std::int64_t>(held, -1);
  hold.count(what.duration);
}

void series::failed(std::optional<errc> why) noexcept {
  const auto code = why ? static_cast<std::size_t>(*why) : 0;
  add<std::uint64_t>(errors[code < errors.size() ? code : 0], 1);
}

}  // namespace holdfast::metering
