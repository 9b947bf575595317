#include <holdfast/client.hpp>
#include <holdfast/latch.hpp>
#include <utility>

#include "api/native_locks.hpp"
#include "redis/calls/ask.hpp"
#include "redis/calls/idempotent_call.hpp"
#include "redis/dialects/foreign_latch.hpp"
#include "redis/dialects/holdfast/held_index.hpp"
#include "redis/dialects/holdfast/latch.hpp"
#include "runtime/lock_access.hpp"

namespace holdfast {
namespace {

using dialects::foreign_latch;
using dialects::latch_change;

// Null: it is written in Holdfast's own way.
const foreign_latch* layout_of(const lock& gate) {
  return static_cast<const foreign_latch*>(api::foreign_of(gate));
}

latch_change change(const lock& gate, const lock_key& key, const dialects::once_call& asked,
                    const redis_locks::bound& within) {
  const auto answer = calls::ask_once(*detail::lock_access::core(gate), asked, within);
  const auto* const other = layout_of(gate);
  return calls::accept(other != nullptr ? other->read_change(key, answer)
                                        : dialects::read_latch_change(key, answer));
}

latch_change set(const lock& gate, const lock_key& key, std::uint32_t count,
                 const redis_locks::bound& within) {
  const auto* const other = layout_of(gate);
  return change(gate, key,
                other != nullptr ? other->set(key, count) : dialects::latch_set(key, count),
                within);
}

latch_change down(const lock& gate, const lock_key& key, std::uint32_t by,
                  const redis_locks::bound& within) {
  const auto* const other = layout_of(gate);
  return change(gate, key,
                other != nullptr ? other->count_down(key, by) : dialects::latch_count_down(key, by),
                within);
}

// It is open, but not all waiters have been notified. Only in Holdfast's own layout is each
// notified.
void tell_the_others(const lock& gate, const lock_key& key, const redis_locks::bound& within) {
  while (change(gate, key, dialects::latch_count_down(key, 0), within).more) continue;
}

// For people who list locks. It may stay shut for longer, and its client may end at once.
void list_as_shut(const lock& gate, const lock_key& key, const redis_locks::bound& within) {
  if (layout_of(gate) != nullptr) return;
  auto& core = *detail::lock_access::core(gate);
  const dialects::held_index_place place{core.engine().space()};
  const dialects::held_name one{.lock = key.name(), .at_most = std::chrono::hours{24}};
  try {
    const auto write = [&](resp::writer& out) { dialects::write_held(place, {&one, 1}, out); };
    calls::ask(core, place.slot, write, within);
  } catch (const failure&) {
    // The latch is set all the same.
  }
}

}  // namespace

latch client::latch(std::string_view name, const dialect& how) const {
  return holdfast::latch{api::make_latch(core_, name, how)};
}

bool latch::try_set(std::uint32_t count) const {
  if (count == 0) throw failure{errc::invalid_argument, "a latch must be set to more than zero"};
  const lock_key& key = api::key_of(gate_);
  const auto within = calls::usual_bound(*detail::lock_access::core(gate_));
  for (;;) {
    const auto [changed, left, more] = set(gate_, key, count, within);
    if (changed && left > 0) list_as_shut(gate_, key, within);
    if (left > 0 || !changed) return changed;
    tell_the_others(gate_, key, within);
  }
}

std::uint32_t latch::count_down(std::uint32_t by) const {
  if (by == 0) throw failure{errc::invalid_argument, "a latch must be counted down by 1 or more"};
  const lock_key& key = api::key_of(gate_);
  const auto within = calls::usual_bound(*detail::lock_access::core(gate_));
  const auto [changed, left, more] = down(gate_, key, by, within);
  if (more) tell_the_others(gate_, key, within);
  return left;
}

std::uint32_t latch::count() const {
  const lock_key& key = api::key_of(gate_);
  const auto* const other = layout_of(gate_);
  const auto answer =
      calls::ask_again(*detail::lock_access::core(gate_), key.slot(), [&](resp::writer& out) {
        if (other == nullptr) return dialects::write_latch_query(key, out);
        other->write_query(name(), out);
      });
  return calls::accept(other != nullptr ? other->read_count(name(), answer)
                                        : dialects::read_latch(key, answer));
}

void latch::wait(const acquire_options& options, std::stop_token stop) const {
  (void)gate_.acquire(options, std::move(stop));
}

result<void> latch::try_wait(const acquire_options& options, std::stop_token stop) const {
  return detail::outcome_as<result<void>>(gate_.try_acquire(options, std::move(stop)));
}

detail::acquire_awaitable<void> latch::async_wait(acquire_options options,
                                                  std::stop_token stop) const {
  using patience = detail::acquire_operation::patience;
  return detail::acquire_awaitable<void>{
      detail::acquire_operation{gate_, options, std::move(stop), patience::waits}};
}

detail::acquire_awaitable<result<void>> latch::async_try_wait(acquire_options options,
                                                              std::stop_token stop) const {
  using patience = detail::acquire_operation::patience;
  return detail::acquire_awaitable<result<void>>{
      detail::acquire_operation{gate_, options, std::move(stop), patience::asks_once}};
}

}  // namespace holdfast
