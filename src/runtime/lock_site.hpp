// A lock as one client sees it: whether the client has it, and which of its threads and coroutines
// wait for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>

#include <holdfast/fencing_token.hpp>

#include "base/identity.hpp"
#include "base/mutex.hpp"
#include "runtime/listener.hpp"
#include "runtime/lock_source.hpp"
#include "runtime/lock_spec.hpp"
#include "runtime/reader_group.hpp"
#include "runtime/tenure.hpp"
#include "runtime/timers.hpp"

namespace holdfast::runtime {

class deadlock_watch;
class local_waiter;

// Who is inside a recursive mutex: at most one, since the lock itself keeps the others out.
struct insider {
  mutex guard;
  identity owner HOLDFAST_GUARDED_BY(guard) = 0;
  std::weak_ptr<holding> hold HOLDFAST_GUARDED_BY(guard);
};

// One request stands at the server for all who want the lock here; when the client has it, they
// pass it on among themselves, each with a token of its own: the major that the server drew and a
// minor that is counted here. After so many holders or so long, others get their turn.
//
// Waking a thread costs more than many a critical section. So a thread that is running may take the
// lock again for a short slice, while the one that waited longest wakes up; then that one is next
// (as in WebKit's ParkingLot, whose fairness is eventual, too). The one after him is woken when he
// gets the lock, so that he is there in time.
//
//   free     the client does not have the lock and nobody asks
//   asking   one of us asks the server, or has just been granted the lock
//   held     one of us holds it
//   idle     the client has it and nobody uses it: somebody is waking up, or it is retained
//
// Thread safety: all members from any thread. A tenure never calls its site under its own mutex.
class lock_site final : public lock_source,
                        public std::enable_shared_from_this<lock_site>,
                        private timed {
 public:
  lock_site(engine& owner, lock_spec spec);
  ~lock_site();

  const std::string& name() const noexcept override { return spec_.key.name(); }
  acquired wait(leasing::patience patience, std::stop_token stop) override;
  std::unique_ptr<acquisition> ask() override;

  const lock_spec& spec() const noexcept { return spec_; }
  engine& owner() const noexcept { return engine_; }

  // What came of wanting the lock.
  struct entry {
    std::optional<grant> got{};             // it is there
    std::shared_ptr<tenure> asks{};         // or: this must ask the server, see obtained, failed
    std::shared_ptr<local_waiter> waits{};  // or: another of us has it; neither: and we do not wait
  };
  // `thread`: who blocks for it; 0: nobody does. `may_stop`: by a token. Where this throws, nothing
  // has changed.
  entry enter(leasing::patience patience, identity thread, bool may_stop) HOLDFAST_EXCLUDES(mutex_);

  // Who asked the server got the lock, or did not.
  grant obtained(std::shared_ptr<tenure> by, identity thread) HOLDFAST_EXCLUDES(mutex_);
  void failed(const tenure& by) HOLDFAST_EXCLUDES(mutex_);

  // Gives the lock to another of us, keeps it, or gives it back to the server. False: nobody will
  // be told, since no answer is needed. The caller keeps a reference to his tenure.
  bool release(tenure& mine, const listener& who) HOLDFAST_EXCLUDES(mutex_);

  // Of a recursive lock only.
  insider& inside() noexcept { return *inside_; }

  // Null when it is being destroyed.
  std::shared_ptr<lock_site> find_alive() noexcept { return weak_from_this().lock(); }

  // The lease ended although it was not released: whoever holds it here cannot keep us waiting.
  // What nobody held is given back, since the server may keep it for much longer.
  void lost(const tenure& what) HOLDFAST_EXCLUDES(mutex_);

  // What we have of no larger major is not passed on: whoever comes asks the server.
  void raise_floor(dialects::token_major seen) HOLDFAST_EXCLUDES(mutex_);

  // Somebody else wants the lock that we keep although nobody uses it.
  void revoke() HOLDFAST_EXCLUDES(mutex_);

 private:
  friend class local_waiter;
  acquired block(leasing::patience patience, std::stop_token stop, identity thread);
  acquired block_watched(deadlock_watch& watch, leasing::patience patience, std::stop_token stop,
                         identity thread);
  // Only what costs nothing: takes a lock that the client has and nobody uses.
  std::optional<grant> try_take(identity thread) HOLDFAST_EXCLUDES(mutex_);
  void check_reentry(identity thread) HOLDFAST_EXCLUDES(mutex_);
  enum class state : std::uint8_t { free, asking, held, idle };

  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void on_shut_down() noexcept override;
  std::shared_ptr<void> pin() noexcept override { return weak_from_this().lock(); }

  // Where readers join each other (lock_site_reading.cpp).
  entry enter_to_read(leasing::patience patience, identity thread, bool may_stop)
      HOLDFAST_EXCLUDES(mutex_);
  grant obtained_to_read(std::shared_ptr<tenure> by) HOLDFAST_EXCLUDES(mutex_);
  bool admit_first() noexcept HOLDFAST_REQUIRES(mutex_);

  bool may_pass_on(monotonic_time now) const HOLDFAST_REQUIRES(mutex_);
  std::uint64_t token(const tenure& of, std::uint32_t minor) const;
  grant take(identity thread) HOLDFAST_REQUIRES(mutex_);
  std::shared_ptr<tenure> detach() HOLDFAST_REQUIRES(mutex_);
  void begin_slice(monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  // Threads that the caller must wake when he has unlocked the mutex.
  struct sleepers {
    std::shared_ptr<local_waiter> owner{};
    std::shared_ptr<local_waiter> next{};
    void wake() const;
  };
  sleepers pass_on(monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  // What else he must do then, see carry_out.
  struct succession {
    sleepers woken{};
    std::shared_ptr<tenure> spent{};
    std::shared_ptr<local_waiter> asks{};
  };
  succession hand_on(const listener& who) HOLDFAST_REQUIRES(mutex_);
  bool carry_out(const succession& next, const listener& who) HOLDFAST_EXCLUDES(mutex_);
  std::shared_ptr<local_waiter> rouse_first() HOLDFAST_REQUIRES(mutex_);
  void keep() HOLDFAST_REQUIRES(mutex_);
  void look_again() HOLDFAST_REQUIRES(mutex_);
  std::shared_ptr<local_waiter> promote_next() noexcept HOLDFAST_REQUIRES(mutex_);
  std::shared_ptr<tenure> new_tenure(leasing::patience patience, bool may_stop);
  bool give_back(tenure& mine, const listener& who);

  engine& engine_;
  const lock_spec spec_;
  mutex mutex_;
  std::shared_ptr<tenure> tenure_ HOLDFAST_GUARDED_BY(mutex_);
  // A list: it costs nothing while it is empty, and whoever gives up leaves it at once.
  std::list<std::shared_ptr<local_waiter>> waiters_ HOLDFAST_GUARDED_BY(mutex_);
  monotonic_time slice_ends_ HOLDFAST_GUARDED_BY(mutex_){};
  monotonic_time turn_ends_ HOLDFAST_GUARDED_BY(mutex_){};
  dialects::token_major floor_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  std::uint32_t minor_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  state state_ HOLDFAST_GUARDED_BY(mutex_) = state::free;
  bool revoked_ HOLDFAST_GUARDED_BY(mutex_) = false;
  bool timer_runs_ HOLDFAST_GUARDED_BY(mutex_) = false;
  bool used_ HOLDFAST_GUARDED_BY(mutex_) = false;  // since the timer runs
  // Who blocked for the lock and got it last. Every thread sees its own writes, so that all others
  // know without the mutex that it is not they.
  std::atomic<identity> thread_{0};
  std::atomic<bool> was_queued_{false};  // who got it last stood in the server's queue
  std::weak_ptr<tenure> latest_
      HOLDFAST_GUARDED_BY(mutex_);  // of that one, where tenure_ is unused
  const std::unique_ptr<insider> inside_;
  const std::unique_ptr<reader_group> readers_;  // where they may join each other
};

// One who waits for another thread of his own process.
class local_waiter final : public std::enable_shared_from_this<local_waiter>, private timed {
 public:
  local_waiter(std::shared_ptr<lock_site> at, leasing::patience patience, identity thread);
  ~local_waiter();

  // The listener is told when look() is worth it. Once, if it is a continuation.
  void begin(std::stop_token stop, listener who) noexcept;

  // What has come of it so far. Nothing at all: still waiting.
  struct news {
    std::optional<grant> got{};
    std::shared_ptr<tenure> asks{};  // it was our turn to ask the server: look at what came of that
    std::optional<leasing::outcome> over{};
    bool failed = false;  // it was our turn to ask, and there was no memory for it
  };
  // Throws std::bad_alloc when it has failed.
  news look();

  // As tenure::abandon.
  bool abandon();

  // What a thread that waits sleeps on.
  redis::waiter& sleeper() noexcept { return sleeper_; }

 private:
  friend class lock_site;
  enum class state : std::uint8_t { waiting, granted, asking, over };

  news find_out();
  void on_timer(monotonic_time now) override;
  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return weak_from_this().lock(); }
  void on_stop() noexcept { give_up(errc::cancelled); }
  void give_up(errc code);
  void fail() noexcept;  // there is no memory for what it would get next
  // It is our turn to ask the server. `drives` as in tenure::acquire.
  void ask(bool drives) { asks_->acquire(stop_, listener_, drives); }

  const std::shared_ptr<lock_site> site_;
  const leasing::patience patience_;
  const identity thread_;
  // Guarded by the site's mutex:
  std::list<std::shared_ptr<local_waiter>> unplaced_;         // what its place is made of
  std::list<std::shared_ptr<local_waiter>>::iterator place_;  // while waiting, once begun
  state state_ = state::waiting;
  bool begun_ = false;
  bool has_timer_ = false;
  bool woken_ = false;  // was told to look, so that it can take the lock when that is idle
  bool ready_ = false;  // has looked since: is next
  bool was_out_of_memory_ = false;
  redis::waiter sleeper_;
  listener listener_;
  grant got_;
  std::shared_ptr<tenure> asks_;
  leasing::outcome over_;
  std::stop_token stop_;

  struct stopper {
    local_waiter* stopped;
    void operator()() const noexcept { stopped->on_stop(); }
  };
  std::optional<std::stop_callback<stopper>> stop_callback_;
};

}  // namespace holdfast::runtime
