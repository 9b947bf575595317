// One attempt to get a lock. No clock, socket or thread; see the table.
#pragma once

#include <cstdint>
#include <string>

#include "lease/step.hpp"

namespace holdfast::leasing {

// How long the caller is willing to wait.
struct patience {
  bool waits = false;            // false: ask once
  monotonic_time give_up_at{};   // when waiting; monotonic_time::max() for ever
  friend bool operator==(const patience&, const patience&) = default;
};

//   state \ event | granted | busy/passing | late  | woken    | timer           | stop/give up | no answer
//   asking        | held    | waiting      | asking| (note it)| withdrawing (1) | withdrawing  | doubting/waiting (2)
//   waiting       | -       | -            | -     | asking   | asking/done     | done         | -
//   doubting      | -       | -            | -     | -        | asking (resend) | withdrawing  | -
//   withdrawing   | release | finished     | fin.  | -        | withdraw        | -            | withdraw later
//   done          | -       | -            | -     | -        | -               | -            | -
//
// "doubting": an earlier copy may still reach the server; it is refused there after its not-after,
// so nothing is sent before that has passed. (1) the patience is over while a request is under way:
// the caller is told at once, and a grant that arrives afterwards is given back. (2) not sent:
// waiting; unknown: doubting. Those who ask once are told `unavailable` and the machine withdraws.
class acquire_machine {
 public:
  struct settings {
    milliseconds response_timeout{2000};
    milliseconds first_retry{2};   // back-off while busy: doubles with jitter ...
    milliseconds last_retry{64};   // ... up to this
    std::uint64_t seed = 0;        // of the jitter
  };

  acquire_machine(const dialects::recipe& recipe, dialects::claim claim, patience patience,
                  settings settings);

  step start(moment now);
  // `sent_at`: when the answered request was handed to the connection.
  step on_reply(const resp::value& reply, monotonic_time sent_at, moment now);
  step on_missing(missing how, const acquire_outcome& why, moment now);
  step on_woken(moment now);
  step on_timer(moment now);
  step on_stop(moment now);

  // Writes what the last step asked to send.
  void write(resp::writer& out) const;

  const dialects::claim& claim() const noexcept { return claim_; }

 private:
  enum class state : std::uint8_t { asking, waiting, doubting, withdrawing, done };

  const dialects::recipe* recipe_;
  dialects::claim claim_;
  patience patience_;
  settings settings_;
  state state_ = state::asking;
};

// The deadline of a lease that was `ttl` long when a request sent at `sent_at` was answered:
// sent_at + ttl - drift (1/100 of ttl for clocks that run at different speeds) - margin (2 ms:
// the server's clock counts in milliseconds).
monotonic_time lease_deadline(monotonic_time sent_at, milliseconds ttl) noexcept;

}  // namespace holdfast::leasing
