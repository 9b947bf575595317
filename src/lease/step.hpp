// The runtime's next tasks, as a machine orders them. Plain data: comparable, printable, copyable.
#pragma once

#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include <holdfast/errc.hpp>

#include "base/no_answer.hpp"
#include "base/time.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {

// Which command to write for the machine's claim.
enum class ask : std::uint8_t { nothing, acquire, release, lone_release, withdraw };

// How something ended, for the caller. `code` is unset when it went well.
struct outcome {
  std::optional<errc> code{};
  std::string detail{};
  friend bool operator==(const outcome&, const outcome&) = default;
};

// The reason is left out where there is no memory for it: that it failed matters more.
inline outcome failed(errc code, std::string_view why) noexcept {
  outcome how{code, {}};
  try {
    how.detail = why;
  } catch (const std::bad_alloc&) {
  }
  return how;
}

// The end of an acquisition. `code` is unset when the lock is held.
struct acquire_outcome {
  std::optional<errc> code{};
  std::string detail{};
  // When held: the grant, from when its time is counted, and until when it certainly lasts.
  substrate::granted grant{};
  monotonic_time granted_at{};
  monotonic_time deadline{};
  bool by_message = false;  // no answer to a question of ours has said so yet
  friend bool operator==(const acquire_outcome&, const acquire_outcome&) = default;
};

// An empty step means: go on as before, the timer that was set stays set. A machine bears a timer
// that comes too early or that is no longer needed. At most one request of a machine is under way.
template <class Outcome>
struct basic_step {
  ask send = ask::nothing;
  bool resend = false;                      // an earlier copy may have been executed
  std::optional<monotonic_time> wake_at{};  // call on_timer then; replaces what was set before
  std::optional<Outcome> done{};            // tell the caller, once
  bool finished = false;                    // nothing will follow; the machine may be destroyed
  bool cannot_undo = false;                 // the lease that was to be changed is lost
  std::optional<server_time> learned{};  // the answer told the server's time: take it as a sample
  friend bool operator==(const basic_step&, const basic_step&) = default;
};

using step = basic_step<acquire_outcome>;
using release_step = basic_step<outcome>;

}  // namespace holdfast::leasing
