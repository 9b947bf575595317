// A tenure that changes what another one holds, and the one that is changed.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "dialects/common_mode.hpp"
#include "lease/deadline.hpp"
#include "net/clock.hpp"
#include "runtime/lock_site.hpp"
#include "runtime/tenure.hpp"

namespace holdfast::runtime {
namespace {

// In tenure::doubts_: a bit for each of these, how many doubts there are, and behind them how many
// that only a renewal can end.
constexpr std::string_view every_mode = "ncdrpxu";
constexpr std::uint32_t one_doubt = 1U << 8;
constexpr std::uint32_t one_unclear = 1U << 20;

}  // namespace

// ---- the one that changes

bool tenure::begin_change() {
  auto* const held = spec_->changes();
  if (held == nullptr) return true;
  if (held->held()) {
    held->may_become(spec_->wants->mode);
    return true;
  }
  conclude(ending::asking, errc::lost, "the lease that was to be changed had ended before");
  return false;
}

// As far as this client knows: extend() may have made it longer, and it may have been released.
// What was taken off for the clocks is added again, or each change would take it off once more.
void tenure::note_what_is_changed() {
  const auto& held = *spec_->changes();
  claim_.forsakes = !held.wants_renewal();
  const auto left = held.remaining();
  if (left <= nanoseconds{0}) return;
  const short_milliseconds whole{leasing::lease_with_deadline_in(left)};
  claim_.replaced_lease = std::max(claim_.replaced_lease, whole);
}

// Before its caller hears of it, and before what it has come to is given back for good.
void tenure::settle_change(const leasing::step& step) {
  auto& held = *spec_->changes();
  if (step.cannot_undo) held.cannot_stay();
  if (!step.finished || (step.done && !step.done->code)) return;
  const auto* const machine = std::get_if<acquiring>(&machine_);
  if (machine != nullptr && machine->is_unclear()) return held.may_stay_what_it_was();
  held.stays_what_it_was();
}

bool tenure::abandon() noexcept {
  auto* const changed = spec_->changes();
  const bool was_held = changed != nullptr && changed->wants_renewal();
  const bool untold = leave_unheard();
  if (changed != nullptr) changed->tell_site(was_held);
  return untold;
}

void tenure::on_reply(resp::value& reply) {
  const auto alive = shared_from_this();
  auto* const changed = spec_->changes();
  const bool was_held = changed != nullptr && changed->wants_renewal();
  hear_reply(reply);
  if (changed != nullptr) changed->tell_site(was_held);
}

// ---- the one that is changed

// Requests that are to change it ask behind its release.
bool tenure::release(listener who) noexcept {
  const bool had_changes = changes_ > 0;
  const auto alive = had_changes ? shared_from_this() : nullptr;
  bool will_be_told = false;
  {
    const scoped_mutex lock(mutex_);
    will_be_told = begin_release(who);
  }
  if (had_changes) engine_.waiting().wake_changes_of(*this);
  return will_be_told;
}

lease_mode tenure::mode() const noexcept {
  if (!spec_->wants) return lease_mode::exclusive;
  char mode = spec_->wants->mode;
  const auto doubts = doubts_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < every_mode.size(); ++i) {
    if ((doubts >> i & 1U) != 0) mode = dialects::common_mode(mode, every_mode[i]);
  }
  return static_cast<lease_mode>(mode);
}

void tenure::may_become(char other) noexcept {
  const auto bit = 1U << every_mode.find(other);
  auto before = doubts_.load();
  while (!doubts_.compare_exchange_weak(before, (before + one_doubt) | bit)) continue;
}

void tenure::stays_what_it_was() noexcept {
  auto before = doubts_.load();
  while (true) {
    const auto fewer = before - one_doubt;
    if (doubts_.compare_exchange_weak(before, fewer < one_doubt ? 0 : fewer)) return;
  }
}

void tenure::may_stay_what_it_was() {
  doubts_ += one_unclear;
  const scoped_mutex lock(mutex_);
  auto* const machine = std::get_if<holding>(&machine_);
  const auto now = net::now();
  if (machine != nullptr && machine->held(now)) obey(machine->on_doubt(now));
}

// What a renewal finds under its request and token is what was granted.
void tenure::confirm_mode() {
  if (std::get<holding>(machine_).is_doubted()) return;
  while (doubts_.load() >= one_unclear) {
    doubts_ -= one_unclear;
    stays_what_it_was();
  }
}

void tenure::cannot_stay() {
  const scoped_mutex lock(mutex_);
  auto* const machine = std::get_if<holding>(&machine_);
  const auto now = net::now();
  if (machine != nullptr) obey(machine->on_renewed(dialects::not_mine{}, now, now));
}

// The server has put another request of ours in the place of this one.
void tenure::on_replaced() {
  {
    const scoped_mutex lock(mutex_);
    auto* const machine = std::get_if<holding>(&machine_);
    if (machine == nullptr) return;
    machine->on_released();
    held_.store(false, std::memory_order_release);
    was_replaced_ = !was_lost_;
    engine_.timers().disarm(*this);
    leave_room();
  }
  if (site_ != nullptr) site_->lost(*this);
}

}  // namespace holdfast::runtime
