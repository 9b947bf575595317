#include "redis/calls/inquiry.hpp"

#include <algorithm>
#include <utility>

#include <holdfast/errc.hpp>

#include "net/clock.hpp"
#include "redis/calls/ask.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::calls {
namespace {

bool is_open(const question* one) { return one->how == question::fate::open; }

bool is_answered(const question* one) { return one->how == question::fate::answered; }

// Those that are open.
void fail(std::span<question* const> rest, const redis::breakdown& why) {
  for (auto* const one : rest) {
    if (!is_open(one)) continue;
    one->how = question::fate::failed;
    one->broken = why;
  }
}

}  // namespace

inquiry::inquiry(runtime::client_core& core, redis_locks::bound within)
    : core_(core), within_(std::move(within)) {}

void inquiry::ask(std::span<question> all) {
  core_.check_process();
  auto& engine = redis_locks::engine_of(core_);
  std::vector<std::pair<redis::connection*, question*>> places;
  for (auto& one : all) places.emplace_back(&engine.connection(one.slot), &one);
  std::ranges::stable_sort(places, {}, [](const auto& place) { return place.first; });
  for (auto from = places.begin(); from != places.end();) {
    auto* const over = from->first;
    std::vector<question*> open;
    for (; from != places.end() && from->first == over; ++from) open.push_back(from->second);
    ask(*over, std::move(open));
  }
}

void inquiry::ask(redis::connection& over, std::vector<question*> open) {
  for (std::span<question* const> rest(open); !rest.empty();) {
    const auto asked = rest.first(std::min(at_once_, rest.size()));
    const auto began = net::now();
    const auto within = one_trip(core_, within_);
    ask_together(over, asked, within);
    if (within.stop->stop_requested()) {
      throw failure{errc::cancelled, "stopped before the answer"};
    }
    const bool is_late = std::ranges::any_of(asked, is_open);
    if (is_late || std::ranges::none_of(asked, is_answered)) {
      return fail(rest, is_late ? redis_locks::too_late(began) : asked.front()->broken);
    }
    adapt_to(net::now() - began);
    rest = rest.subspan(asked.size());
  }
}

void inquiry::adapt_to(nanoseconds took) {
  constexpr std::size_t most = 32;
  const nanoseconds may_take = redis_locks::engine_of(core_).options().response_timeout;
  if (took > may_take / 4) at_once_ = std::max<std::size_t>(at_once_ / 2, 1);
  if (took < may_take / 8) at_once_ = std::min(at_once_ * 2, most);
}

}  // namespace holdfast::calls
