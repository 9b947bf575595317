// Giving a lock back. No clock, socket or thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lease/back_off.hpp"
#include "lease/step.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {

// For so long a release waits for the end of a move of its hash slot; most are over long before.
inline constexpr milliseconds longest_move{250};

//   state \ event | released | not mine     | passing, no answer | refused for good | timer
//   asking        | done: ok | lost, ok (1) | waiting (2)        | done: the reason | -
//   waiting       | -        | -            | -                  | -                | asking (2)
//   done          | -        | -            | -                  | -                | -
//
// (1) A resent release that finds "not mine" before the lease's deadline counts as released: the
// first copy did it. (2) From the deadline on the caller is told `unavailable`, once, and nothing
// more. It is still tried, although nobody is inside. For the server may have renewed the lock
// without its answer being heard. It then keeps the lock for another lease, or as long as such a
// request asked for (`longer`), and for the claim's delay after that.
//
// A server that needs another try to find who is next (`unfinished`) is asked again at once, also
// after the deadline: it has not freed the lock yet, and comes nearer to the end with each try.
//
// While the lock's keys are divided between two nodes the answer is a passing refusal. When that
// goes on for too long, the lock's own key is given up alone, so that nobody need wait for the end
// of the move, or of the lease if this process ends before. The first waiter is not notified then,
// and finds the lock free when it asks (waiting_times.hpp).
class release_machine {
 public:
  // The claim is the caller's. `seed`: of the jitter between retries. `patience`: with a move.
  // `longer`: than the claim says the server may keep it.
  release_machine(const substrate::claim& claim, monotonic_time deadline, std::uint64_t seed = 0,
                  milliseconds patience = longest_move, milliseconds longer = {});

  release_step start(monotonic_time now);
  release_step on_given_back(const substrate::release_verdict& verdict, monotonic_time now);
  release_step on_missing(no_answer how, monotonic_time now);
  release_step on_timer(monotonic_time now);

  // The server's words when it refused last; empty when it did not.
  std::string_view last_refusal() const noexcept {
    return last_refusal_ ? std::string_view{*last_refusal_} : std::string_view{};
  }

 private:
  enum class state : std::uint8_t { asking, waiting, done };

  release_step send(monotonic_time now);
  release_step retry(monotonic_time now);
  release_step conclude(outcome how);
  std::optional<outcome> tell(outcome how);
  // No later than this the server ends the lock by itself.
  monotonic_time gone_at() const noexcept;

  const substrate::claim* claim_;
  monotonic_time deadline_;
  back_off retries_;
  std::unique_ptr<const std::string> last_refusal_;  // they are rare
  short_milliseconds patience_;
  short_milliseconds longer_;
  monotonic_time alone_from_ = monotonic_time::max();
  state state_ = state::asking;
  bool alone_ = false;   // gives up the lock's own key alone
  bool resent_ = false;  // an earlier copy may have been executed
  bool told_ = false;    // the caller knows how it ended
};

}  // namespace holdfast::leasing
