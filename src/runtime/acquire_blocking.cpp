#include "runtime/acquire_blocking.hpp"

#include <sched.h>

#include <optional>
#include <utility>

#include "base/at_exit.hpp"
#include "base/printable.hpp"
#include "runtime/engine.hpp"
#include "runtime/local_acquisition.hpp"
#include "runtime/local_lock.hpp"

namespace holdfast::runtime {
namespace {

void check_reentry(local_lock& local, identity thread) {
  const auto& spec = local.spec();
  if (!spec.watches_reentry() || !local.held_by(thread)) return;
  throw failure{errc::would_deadlock,
                "this thread has the lock '" + printable(spec.key.name()) +
                    "' already and would wait for itself: use a recursive_mutex, or "
                    "reentry::waits if another thread releases it"};
}

acquired block(local_lock& local, leasing::patience patience, std::stop_token stop) {
  const auto thread = this_thread();
  if (!stop.stop_requested()) {
    if (auto at_hand = local.try_take(thread)) return *std::move(at_hand);
  }
  if (patience.waits) {
    check_reentry(local, thread);
    // A thread that has just given it back would only be in the way of those that get it first.
    if (local.was_queued()) sched_yield();
  }
  auto& engine = local.owner();
  engine.prepare_to_drive();
  net::waiter self{net::waiter::kind::caller, &engine.source_of(local.spec().key.slot())};
  local_acquisition wanted{local.shared_from_this()};
  bool ended = wanted.begin(patience, std::move(stop), {.sleeper = &self});
  bool has_it = false;
  // Also after an exception: from here on others know that this thread waits.
  auto leave = [&]() noexcept {
    auto& sleeper = wanted.sleeper();
    auto& source = *sleeper.home();
    // It may have been asked to read for everybody while it looked.
    sleeper.done();
    source.drive(sleeper);
    // If the attempt was given up, its command may still be under way.
    if (!has_it) source.forget(sleeper);
  };
  const at_exit leaves(leave);
  for (;; ended = false) {
    if (!ended) wanted.sleeper().home()->drive(wanted.sleeper());
    if (auto outcome = wanted.look()) {
      has_it = std::holds_alternative<grant>(*outcome);
      return *std::move(outcome);
    }
    // This thread is the next holder. Not if this thread asks the server: its request is not sent
    // yet.
    if (!wanted.asks_server()) wanted.sleeper().spin(engine.options().spin);
  }
}

acquired block_watched(wait_watch& watch, local_lock& local, leasing::patience patience,
                       std::stop_token stop) {
  const auto thread = this_thread();
  const auto waiting = patience.waits ? watch.begin(local.spec(), thread, stop) : nullptr;
  if (waiting) stop = waiting->stop();
  auto outcome = block(local, patience, std::move(stop));
  if (const auto* const got = std::get_if<grant>(&outcome)) {
    keep_or_give_back(
        *got, [&] { watch.acquired(thread, std::static_pointer_cast<lock_driver>(got->of)); });
  } else if (waiting) {
    if (auto report = waiting->report()) return *std::move(report);
  }
  return outcome;
}

}  // namespace

acquired acquire_blocking(local_lock& local, leasing::patience patience, std::stop_token stop) {
  auto& engine = local.owner();
  // A blocking call there would stop the very thread that others need to go on.
  if (patience.waits && engine.callbacks().is_this_thread()) {
    throw failure{errc::would_deadlock,
                  "waiting for a lock in a callback would stop all callbacks; use async_acquire"};
  }
  auto* const watch = engine.deadlocks();
  if (watch == nullptr) return block(local, patience, std::move(stop));
  return block_watched(*watch, local, patience, std::move(stop));
}

}  // namespace holdfast::runtime
