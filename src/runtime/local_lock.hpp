// A lock as one client sees it: whether the client has it, and which of its threads and coroutines
// wait for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include <holdfast/fencing_token.hpp>

#include "base/identity.hpp"
#include "base/mutex.hpp"
#include "lease/local_turns.hpp"
#include "runtime/listener.hpp"
#include "runtime/local_waiter.hpp"
#include "runtime/lock_driver.hpp"
#include "runtime/lock_source.hpp"
#include "runtime/lock_spec.hpp"
#include "runtime/reader_group.hpp"
#include "runtime/timers.hpp"

namespace holdfast::runtime {

// The owner inside a recursive mutex: at most one, since the lock itself keeps the others out.
struct recursive_owner {
  mutex guard;
  identity owner HOLDFAST_GUARDED_BY(guard) = 0;
  std::weak_ptr<holding> hold HOLDFAST_GUARDED_BY(guard);
};

// Drives the turns of this client's threads and coroutines: wakes them, makes what asks the server,
// gives back. Where joining readers share a grant, it drives their group; where each caller needs a
// grant of its own, it only passes them on to the server.
//
// Thread safety: all members from any thread. A driver never calls its lock under its own
// mutex.
class local_lock final : public lock_source,
                         public std::enable_shared_from_this<local_lock>,
                         private timed {
 public:
  local_lock(engine& owner, lock_spec spec);
  ~local_lock();

  const std::string& name() const noexcept override { return spec_.key.name(); }
  lock_kind kind() const noexcept override { return spec_.kind(); }
  acquired wait(leasing::patience patience, std::stop_token stop) override;
  std::unique_ptr<acquisition> ask() override;

  const lock_spec& spec() const noexcept { return spec_; }
  engine& owner() const noexcept { return engine_; }

  // The answer to a caller that wants the lock.
  struct entry {
    std::optional<grant> got{};           // it is there
    std::shared_ptr<lock_driver> asks{};  // or: this must ask the server, see obtained, failed
    std::shared_ptr<local_waiter>
        waits{};  // or: another caller has it. Neither: and it cannot wait
  };
  // `thread`: the one that blocks for it; 0: none does. `may_stop`: by a token. Where this throws,
  // nothing has changed.
  entry enter(leasing::patience patience, identity thread, bool may_stop) HOLDFAST_EXCLUDES(mutex_);

  // The caller that asked the server got the lock, or did not.
  grant obtained(std::shared_ptr<lock_driver> by, identity thread) HOLDFAST_EXCLUDES(mutex_);
  void failed(const lock_driver& by) HOLDFAST_EXCLUDES(mutex_);

  // Hands the lock to another caller, retains it, or gives it back to the server. False: nobody
  // will be told, since no answer is needed. The holder keeps a reference to its driver.
  bool release(lock_driver& mine, const listener& who) HOLDFAST_EXCLUDES(mutex_);

  // Of a recursive lock only.
  recursive_owner& inside() noexcept { return *inside_; }

  // Null when it is being destroyed.
  std::shared_ptr<local_lock> find_alive() noexcept { return weak_from_this().lock(); }

  // The lease ended although it was not released: its holder cannot keep others waiting. A lock
  // that nobody held is given back, since the server may keep it for much longer.
  void lost(const lock_driver& what) HOLDFAST_EXCLUDES(mutex_);

  // A grant of no larger major is not handed on: callers ask the server.
  void raise_floor(substrate::token_major seen) HOLDFAST_EXCLUDES(mutex_);

  // Another client wants the lock, which may be retained here.
  void revoke() HOLDFAST_EXCLUDES(mutex_);

  // Only what costs nothing: takes a lock that the client has and nobody uses.
  std::optional<grant> try_take(identity thread) HOLDFAST_EXCLUDES(mutex_);
  // The lease of a thread that has blocked for the lock; null: none.
  std::shared_ptr<lock_driver> held_by(identity thread) HOLDFAST_EXCLUDES(mutex_);
  // The last holder stood in the server's queue.
  bool was_queued() const noexcept { return was_queued_.load(std::memory_order_relaxed); }

  // For those that wait here.
  mutex& guard() noexcept HOLDFAST_ANNOTATE(lock_returned(mutex_)) { return mutex_; }
  void join(local_waiter& who) noexcept HOLDFAST_EXCLUDES(mutex_);
  local_waiter::news look(local_waiter& who) HOLDFAST_EXCLUDES(mutex_);
  // It gives up. False: something had come of its waiting before.
  bool leave(local_waiter& who, leasing::outcome why, bool is_told) HOLDFAST_EXCLUDES(mutex_);

 private:
  // To be done without the mutex.
  struct errands {
    std::shared_ptr<local_waiter> holds{};  // to be woken, as the next
    std::shared_ptr<local_waiter> wakes{};
    std::shared_ptr<lock_driver> spent{};  // to be given back
    std::shared_ptr<local_waiter> asker{};
    std::shared_ptr<lock_driver> asks{};  // by this
  };

  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void on_shut_down() noexcept override;
  std::shared_ptr<void> pin() noexcept override { return weak_from_this().lock(); }

  // Where readers join each other.
  entry enter_to_read(leasing::patience patience, identity thread, bool may_stop)
      HOLDFAST_EXCLUDES(mutex_);
  grant obtained_to_read(std::shared_ptr<lock_driver> by) HOLDFAST_EXCLUDES(mutex_);
  bool admit_first() noexcept HOLDFAST_REQUIRES(mutex_);

  leasing::local_turns::glance seen() const HOLDFAST_REQUIRES(mutex_);
  grant hold(identity thread, std::uint32_t minor) HOLDFAST_REQUIRES(mutex_);
  void follow(leasing::local_turns::step (leasing::local_turns::*event)() noexcept)
      HOLDFAST_EXCLUDES(mutex_);
  errands obey(const leasing::local_turns::step& step) noexcept HOLDFAST_REQUIRES(mutex_);
  void let_ask(leasing::local_turns::waiter* next, errands& todo) noexcept
      HOLDFAST_REQUIRES(mutex_);
  bool carry_out(const errands& todo, const listener& who = {},
                 const local_waiter* caller = nullptr) HOLDFAST_EXCLUDES(mutex_);
  std::shared_ptr<lock_driver> new_driver(leasing::patience patience, bool may_stop);
  bool give_back(lock_driver& mine, const listener& who);

  engine& engine_;
  const lock_spec spec_;
  mutex mutex_;
  std::shared_ptr<lock_driver> driver_ HOLDFAST_GUARDED_BY(mutex_);  // that is held or idle here
  leasing::local_turns turns_ HOLDFAST_GUARDED_BY(mutex_);
  // The thread that blocked for the lock and got it last. Every thread sees its own writes, so that
  // all others know without the mutex that it is not they.
  std::atomic<identity> thread_{0};
  std::atomic<bool> was_queued_{false};
  std::weak_ptr<lock_driver> latest_
      HOLDFAST_GUARDED_BY(mutex_);  // of that one, where driver_ is unused
  const std::unique_ptr<recursive_owner> inside_;
  const std::unique_ptr<reader_group> readers_;  // where they may join each other
};

}  // namespace holdfast::runtime
