#include "faults/runs/observer.hpp"

#include <poll.h>

#include <utility>

namespace holdfast::faults {

namespace {

using history::event;
using history::kind;
using history::milliseconds;

constexpr milliseconds between_looks{2};
// A state that does not change is told this often.
constexpr milliseconds told_again{50};
constexpr milliseconds too_slow{10};
// remaining() counts whole milliseconds.
constexpr milliseconds a_renewal{5};

bool is_news(const event& seen, const event& told) {
  return seen.mode != told.mode || seen.token != told.token || seen.time > told.time + told_again ||
         seen.until > told.until + a_renewal;
}

}  // namespace

std::optional<event> look_at(const lease& one) {
  const auto begin = time_now();
  const auto mode = one.mode();
  if (mode == lease_mode::none) return std::nullopt;
  event seen{.time = time_now(), .what = kind::believed, .token = one.token().value()};
  seen.until = seen.time + one.remaining();
  seen.mode = support::mode_of(static_cast<char>(mode));
  if (!one.held() || one.mode() != mode || time_now() > begin + too_slow) return std::nullopt;
  return seen;
}

observer::observer(recorder& log)
    : log_(log), thread_([this](const std::stop_token& stop) { observe(stop); }) {}

observer::watch::watch(observer& by, const lease& one, event as) : by_(by) {
  const std::lock_guard lock(by_.guard_);
  at_ = by_.all_.insert(by_.all_.end(), {one, std::move(as)});
}

observer::watch::~watch() {
  const std::lock_guard lock(by_.guard_);
  by_.tell(*at_);
  by_.all_.erase(at_);
}

void observer::observe(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      const std::lock_guard lock(guard_);
      for (auto& each : all_) look(each);
    }
    ::poll(nullptr, 0, int(between_looks.count()));
  }
}

void observer::look(watched& at) {
  const auto seen = look_at(at.one);
  if (!seen) return tell(at);
  // Both ends of what stayed the same.
  if (at.told && seen->mode != at.told->mode) tell(at);
  at.seen = at.as;
  at.seen->time = seen->time;
  at.seen->what = seen->what;
  at.seen->token = seen->token;
  at.seen->until = seen->until;
  at.seen->mode = seen->mode;
  if (!at.told || is_news(*at.seen, *at.told)) tell(at);
}

void observer::tell(watched& at) {
  if (!at.seen) return;
  log_.record(*at.seen);
  at.told = std::exchange(at.seen, std::nullopt);
}

}  // namespace holdfast::faults
