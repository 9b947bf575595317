#include "faults/runs/contender.hpp"

#include <poll.h>

#include <utility>

namespace holdfast::faults {

namespace {

using history::event;
using history::kind;
using history::nanoseconds;

void pause(milliseconds time) { ::poll(nullptr, 0, int(time.count())); }

}  // namespace

contender::contender(std::vector<contended> locks, const std::string& resources, tokens mode,
                     std::int64_t process, nanoseconds until, recorder& log, std::uint64_t seed)
    : locks_(std::move(locks)),
      resource_(resources, mode),
      process_(process),
      until_(until),
      log_(log),
      random_(seed) {}

void contender::run() {
  while (time_now() < until_) {
    take(locks_[any(locks_.size())], any(4) == 0 ? milliseconds(100) : milliseconds(5000));
    pause(milliseconds(any(4)));
  }
  for (const auto& one : locks_) take(one, milliseconds(20'000));
}

void contender::take(const contended& one, milliseconds timeout) {
  const auto& way = one.ways[any(one.ways.size())];
  least_hold_ = one.least_hold;
  turn_ = {.process = process_, .operation = log_.next_operation(), .lock = one.name};
  tell(kind::called, [&](event& call) {
    call.until = call.time + timeout;
    call.lease = *one.options.lease;
    call.part = way.part;
    call.whole = way.whole;
    call.note = one.options.fair ? "fair" : way.joins ? "joins" : "";
  });
  auto got = way.target.try_acquire({.timeout = timeout});
  if (got) return hold(*std::move(got), way.part == way.whole);
  const bool unclear = got.error().reason() == errc::unavailable;
  tell(unclear ? kind::unclear : kind::failed,
       [&](event& failed) { failed.note = got.error().what(); });
}

void contender::hold(lease got, bool has_all) {
  turn_.token = got.token().value();
  tell(kind::won, [&](event& one) { one.until = one.time + got.remaining(); });
  {
    std::atomic<bool> told{false};
    const auto turn = turn_;
    const std::stop_callback on_loss(got.lost(), [&] {
      auto lost = turn;
      lost.what = kind::lost;
      log_.record(lost);
      told = true;
    });
    if (has_all) {
      change(got);
    } else {
      read_twice(got);
    }
    if (!look(got)) wait_for(told);
  }
  tell(kind::releasing, [](event& one) { one.until = one.time + patience; });
  const auto released = got.release();
  tell(kind::released, [&](event& one) { one.note = released ? "" : released.error().what(); });
}

// Adds one to what the lock protects. It does not look whether it still has the lock: that is what
// the tokens are for.
void contender::change(lease& got) {
  const auto number = resource_.read(turn_.lock, turn_.token);
  if (!number) return;
  take_time();
  look(got);
  auto writer = turn_;
  writer.time = time_now();
  resource_.write(writer, *number + 1);
}

// Nobody changes it meanwhile.
void contender::read_twice(const lease& got) {
  for (int i = 0; i < 2; ++i) {
    const auto number = resource_.read(turn_.lock, turn_.token);
    if (!number) return;
    tell(kind::saw, [&](event& one) { one.value = *number; });
    if (i == 0) take_time();
    look(got);
  }
}

void contender::take_time() {
  if (time_now() < until_) pause(least_hold_);
  pause(milliseconds(any(any(20) == 0 ? 400 : 4)));
}

bool contender::look(const lease& got) {
  const auto before = time_now();
  const auto remaining = got.remaining();
  const bool held = remaining > milliseconds(0) || got.held();
  tell(held ? kind::held : kind::ended, [&](event& one) {
    one.time = before;
    if (held) one.until = before + remaining;
  });
  return held;
}

// Counts rather than looks at a clock: the process may be frozen meanwhile.
void contender::wait_for(const std::atomic<bool>& told) {
  for (int i = 0; i < 200 && !told; ++i) pause(milliseconds(5));
}

void contender::tell(kind what, const std::function<void(event&)>& details) {
  auto one = turn_;
  one.time = time_now();
  one.what = what;
  details(one);
  log_.record(one);
}

}  // namespace holdfast::faults
