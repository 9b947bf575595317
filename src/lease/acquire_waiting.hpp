// How an attempt waits: the last answer, when it asks again, and how it learns that its turn has
// come.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lease/back_off.hpp"
#include "lease/queue_message.hpp"
#include "lease/step.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {

// Whether waiting can mend the reason for which no answer came.
bool can_pass(errc code) noexcept;

class acquire_waiting {
 public:
  enum class answer : std::uint8_t { none, busy, refusal, unreachable };

  acquire_waiting(const pauses& pauses_while_busy, std::uint64_t seed) noexcept
      : retries_(seed), while_busy_(pauses_while_busy) {}

  // The last answer, and what the caller hears of it when its patience is over.
  void remember(answer last, std::string_view detail);
  outcome out_of_patience() const;

  // How long it waits: where it has no place in a queue; in the queue; for the server.
  nanoseconds pause() noexcept { return retries_.next(while_busy_); }
  nanoseconds pause(const substrate::busy& held) noexcept;
  nanoseconds pause(const substrate::queued& where, substrate::wakeup_way way) noexcept;
  nanoseconds pause_for_server() noexcept { return retries_.next(while_unreachable); }
  // The next pause is a first one again.
  void reset() noexcept { retries_.reset(); }

  // When it asks next. The message that it is the first never puts that off.
  monotonic_time asks_at(monotonic_time then) noexcept { return asks_at_ = then; }
  monotonic_time asks_at(const queue_message& is_first) noexcept;

  // A wake-up while it asks counts when the answer has come.
  void wake(bool is_asking) noexcept { woken_ = is_asking; }
  bool was_woken() const noexcept { return woken_; }
  // We are told when somebody gives the lock back, or no more.
  void tune_in(bool hears) noexcept { tuned_in_ = hears; }

 private:
  monotonic_time asks_at_{};
  // On the heap, since it is rare: of the last refusal, or why no answer came.
  std::unique_ptr<const std::string> last_detail_;
  [[no_unique_address]] back_off retries_;
  pauses while_busy_;
  answer last_ = answer::none;
  bool woken_ = false;
  bool tuned_in_ = false;
};

}  // namespace holdfast::leasing
