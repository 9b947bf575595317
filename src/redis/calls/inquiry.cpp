#include "redis/calls/inquiry.hpp"

#include <algorithm>
#include <utility>

#include <holdfast/errc.hpp>

#include "net/clock.hpp"
#include "redis/calls/ask.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::calls {
namespace {

bool has_no_reply(const question* one) { return one->how != question::fate::answered; }

void fail(question& one, const redis::breakdown& why) {
  one.how = question::fate::failed;
  one.broken = why;
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
  auto& how = paces_[&over];
  while (!open.empty()) {
    const std::span some(open.data(), std::min(how.at_once, open.size()));
    const auto began = net::now();
    ask_some(over, some);
    if (std::ranges::none_of(some, has_no_reply)) {
      adapt(how, net::now() - began);
    } else if (some.size() > 1) {
      how.most = std::max<std::size_t>(some.size() / 2, 1);
      how.at_once = 1;
    } else if (!over.is_up()) {
      for (auto* const one : open) fail(*one, some.front()->broken);
      return;
    } else {
      open.erase(open.begin());  // that one alone: another node should have answered it
    }
    std::erase_if(open, [](const question* one) { return !has_no_reply(one); });
  }
}

void inquiry::ask_some(redis::connection& over, std::span<question* const> some) {
  const auto began = net::now();
  const auto within = one_trip(core_, within_);
  for (auto* const one : some) one->how = question::fate::open;
  ask_together(over, some, within);
  if (within.stop->stop_requested()) throw failure{errc::cancelled, "stopped before the answer"};
  for (auto* const one : some) {
    if (one->how == question::fate::open) fail(*one, redis_locks::too_late(began));
  }
}

// A long way is no slow line: what counts is by how much the answers of a batch took longer than
// those that came soonest.
void inquiry::adapt(pace& how, nanoseconds took) const {
  const nanoseconds may_take = redis_locks::engine_of(core_).options().response_timeout;
  how.shortest_trip = std::min(how.shortest_trip, took);
  const auto longer = took - how.shortest_trip;
  if (longer > may_take / 4) {
    how.at_once = std::max<std::size_t>(how.at_once / 2, 1);
  } else if (longer < may_take / 8 && took < may_take / 2) {
    how.at_once = std::min(how.at_once * 2, how.most);
  }
}

}  // namespace holdfast::calls
