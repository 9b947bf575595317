// Events of locks in a run, simulated or real: one event is one line of text.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/modes.hpp"

namespace holdfast::history {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

enum class kind {
  // Acts and observations of users of locks. From `won` on, each says in which mode it was had by
  // then.
  called,    // an acquisition begins; until: when it must have returned; lease; part and whole
             // of what several can have; note: "fair", or "joins": a reader, see I3
  won,       // it returned a lease; token; until: it is held at least so long
  failed,    // it returned without one; note: why
  unclear,   // it returned without one, but the server may have granted it all the same
  held,      // the holder looked, and had it; until: as above
  believed,  // an observer looked at the lease with this token: it said "held", in this mode, until
             // then
  ended,     // the holder looked, and had it no more
  lost,      // the holder was told of the loss
  saw,       // the holder has read the number `value`, which only holders of the whole may change
  changing,  // its holder asks for this mode instead; until: when the call must have returned
  changed,   // it has that: a new token and mode; until: as above
  unchanged,  // it has not; note: why
  releasing,  // the release begins; until: when it must have returned
  released,   // it returned; note: what was wrong, "lost" when it was no longer ours
  // Acts of resources towards holders; in the order of `value` of each lock.
  written,  // a write with this token was accepted as number `value`; note: what it wrote
  refused,  // one with this token was not
  total,    // what the resource has at the end: `value`
  // Acts of the server, where the run can tell: its own order, by time.
  granted,  // the lock was given to the owner in `note`, with this token and in this mode
  freed,    // the owner in `note` has it no more
  // Faults of the run.
  killed,   // this process had ended by now
  frozen,   // this process is stopped, and runs no more from `until` on ...
  thawed,   // ... and runs again
  broken,   // the network or the server fails; until: it works again
  emptied,  // the server loses what it has, some time before `until`; note: "clock", where its
            // clock may be set as well, so that new tokens may be below those of before
  healed,   // nothing of all this happens from now on
  left,     // after all is over, the server still has what is in `note`
};

struct event {
  nanoseconds time{};  // CLOCK_BOOTTIME, or the simulator's clock
  kind what{};
  std::int64_t process = 0;
  std::uint64_t operation = 0;  // of this process: all events of one acquisition have the same
  std::string lock{};
  std::uint64_t token = 0;
  nanoseconds until{};
  milliseconds lease{};
  std::uint64_t value = 0;
  std::uint32_t part = 0;   // of the lock, which has ...
  std::uint32_t whole = 0;  // ... so many: a permit of three; 0: there is one, and it is wanted
  std::optional<support::mode> mode{};  // none: permits, or what only one can have
  std::string note{};                   // one word

  friend bool operator==(const event&, const event&) = default;
};

// "1234567 won process=17 operation=3 lock=a token=9 until=2234567": what is empty is left out,
// and a note has underscores for what is not to be seen in one word.
std::string to_line(const event& one);

// Throws std::invalid_argument with the line when it is not one of these.
event parse(std::string_view line);

// The lines of these files by time. An event is never before what its own file has earlier.
std::vector<event> read_merged(const std::vector<std::string>& paths);

}  // namespace holdfast::history
