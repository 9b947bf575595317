// The work of a contender on the lock's resource.

#include "faults/runs/contender.hpp"
#include "support/pause.hpp"

namespace holdfast::faults {

using history::event;
using history::kind;
using support::mode;

// A holder in a mode beside which nobody else writes adds one. A holder in a mode beside which
// nobody writes reads. It does not look whether it still has the lock: the tokens are there for
// that.
void contender::use(const lease& got, bool has_all) {
  const auto in = turn_.mode;
  const bool writes = in ? in == mode::ex || in == mode::pw : has_all;
  const bool reads = in ? in == mode::pr || in == mode::u : !has_all;
  if (writes) {
    add_one(got);
  } else if (reads) {
    read_twice(got);
  } else {
    take_time();
    look(got);
  }
}

void contender::add_one(const lease& got) {
  const auto number = resource_.read(turn_.lock, turn_.token);
  if (!number) return;
  // The value that an upgraded reader has read is still true.
  tell(kind::saw, [&](event& one) { one.value = *number; });
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
  if (time_now() < until_) support::pause(least_hold_);
  support::pause(milliseconds(any(any(20) == 0 ? 400 : 4)));
}

bool contender::look(const lease& got) {
  const auto before = time_now();
  if (const auto seen = look_at(got)) {
    tell(kind::held, [&](event& one) {
      one.time = seen->time;
      one.until = seen->until;
      one.mode = seen->mode;
    });
    return true;
  }
  if (got.held()) return true;  // it becomes something else, or the look took too long
  tell(kind::ended, [&](event& one) { one.time = before; });
  return false;
}

}  // namespace holdfast::faults
