// One attempt to get a lock and, if it succeeds, the time it is held and its release.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/result.hpp>

#include "base/mutex.hpp"
#include "lease/lock_session.hpp"
#include "net/clock.hpp"
#include "runtime/caller.hpp"
#include "runtime/engine.hpp"
#include "runtime/holding.hpp"
#include "runtime/listener.hpp"
#include "runtime/lock_spec.hpp"
#include "runtime/loss_signal.hpp"

namespace holdfast::runtime {

class local_lock;

// Drives a lock_session against a substrate and the clock: tells it what happens, and carries out
// its effects. A substrate derives its request from it, so that a lock's whole way from asking to
// released is one allocation.
//
// Order of locks: mutex_, then those of substrate, timers and engine; nothing of the user's runs
// under any of them. Keeps itself alive (self_) while a request or timer may still come.
//
// Thread safety: all members from any thread, unless said otherwise.
class lock_driver : public holding,
                    public std::enable_shared_from_this<lock_driver>,
                    protected timed {
 public:
  ~lock_driver() override;

  // Begins to ask. The listener is told once, when take_acquired() may be called. `drives`: this
  // thread goes on to drive the connection; otherwise the request is sent at once.
  void acquire(std::stop_token stop, listener who, bool drives) noexcept HOLDFAST_EXCLUDES(mutex_);
  bool has_answer() HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return session_.is_told();
  }
  leasing::outcome take_acquired() HOLDFAST_EXCLUDES(mutex_) {
    stop_callback_.reset();
    const scoped_mutex lock(mutex_);
    return caller_.take();
  }

  // It waited without a place in a queue.
  bool has_waited() HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return caller_.waited;
  }

  // Nobody waits for the outcome any more: gives the lock back if it comes. The listener is not
  // told after this returns, unless it was before. True when it was not told.
  bool abandon() noexcept HOLDFAST_EXCLUDES(mutex_);

  // Begins to give the lock back. The listener, if there is one, is told once, when
  // take_released() may be called. False: there is nothing (more) to release, nobody is told.
  bool release(listener who) noexcept HOLDFAST_EXCLUDES(mutex_);
  result<void> take_released() override HOLDFAST_EXCLUDES(mutex_);
  // Releases it by way of the local lock, which may hand it to another thread of this client.
  bool give_back(const listener& who) override;
  result<void> give_back_and_wait() override;

  void on_replaced() HOLDFAST_EXCLUDES(mutex_);

  // For a request that is to change what this holds, into the mode `other`.
  void on_change(leasing::change_news what, char other) HOLDFAST_EXCLUDES(mutex_);

  // Blocks until the server has answered.
  result<void> extend(milliseconds duration) override HOLDFAST_EXCLUDES(mutex_);

  lease_mode mode() const noexcept override HOLDFAST_EXCLUDES(mutex_) {
    if (!spec_->wants) return lease_mode::exclusive;
    // In a forked child a thread of the parent may have the mutex for ever.
    if (!engine_.is_in_its_process()) return lease_mode::none;
    const scoped_mutex lock(mutex_);
    return static_cast<lease_mode>(session_.mode());
  }
  void tell_own_locks(const engine&, std::uint64_t token, const telling& tell) const override {
    if (!spec_->foreign) tell(name(), spec_->kind(), token);
  }
  // Lock-free but for reading the clock.
  bool held() const noexcept override { return remaining() > nanoseconds{0}; }
  nanoseconds remaining() const noexcept override {
    return engine_.is_in_its_process() ? remaining(net::now()) : nanoseconds{0};
  }
  // Where the process is known.
  nanoseconds remaining(monotonic_time now) const noexcept {
    const monotonic_time until{nanoseconds{deadline_.load(std::memory_order_acquire)}};
    return std::max(nanoseconds{0}, until - now);
  }
  substrate::token_major major() const noexcept { return claim_.granted; }

  std::stop_token lost() override HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return loss_.token(session_.was_lost());
  }
  // The old holder has given it up, though this client still has it: that holder does not listen
  // for the loss any more.
  void change_hands() HOLDFAST_EXCLUDES(mutex_) {
    if (!loss_.is_heard()) return;
    const scoped_mutex lock(mutex_);
    loss_.change_hands();
  }
  bool was_replaced() const noexcept override HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return session_.present_state() == leasing::lock_session::state::replaced;
  }
  const std::string& name() const noexcept override { return spec_->key.name(); }
  const lock_spec& spec() const noexcept { return *spec_; }
  engine& owner() const noexcept { return engine_; }

  // The claim that is asked for, and later held. Changes only while no request and no renewal is
  // under way.
  const substrate::claim& claim() const noexcept { return claim_; }
  // It has a lease, or had one until a moment ago.
  bool wants_renewal() const noexcept { return deadline_.load(std::memory_order_acquire) != 0; }

  // The answer to a request for a longer lease.
  struct extension_answer {
    substrate::renew_verdict verdict;
    monotonic_time sent_at;
    monotonic_time answered_at;
  };

 protected:
  // `may_stop`: acquire() will be given a token that counts. `local`: hears of a loss; may be null.
  struct attempt {
    std::shared_ptr<const lock_spec> spec;
    leasing::patience patience;
    bool may_stop = false;
    local_lock* local = nullptr;
  };
  lock_driver(engine& owner, attempt what, const substrate::claim& claim,
              const leasing::lock_session::terms& terms);

  // For the destructor of a derived class: no timer may fire for half an object.
  void end_timer() noexcept;

  // ---- what the substrate tells

  // Something has come: `tell` tells the session, and its effects are carried out. `listens`: it
  // was an answer, after which the request may have to listen.
  template <typename Tell>
  void happen(Tell tell, bool listens = false) HOLDFAST_EXCLUDES(mutex_) {
    const auto alive = shared_from_this();
    auto* const changed = spec_->changes();
    const bool was_held = wants_renewal();
    const bool changed_was_held = changed != nullptr && changed->wants_renewal();
    {
      const scoped_mutex lock(mutex_);
      obey(tell(session()));
      if (listens) listen();
    }
    tell_local_lock(was_held);
    if (changed != nullptr) changed->tell_local_lock(changed_was_held);
  }
  static monotonic_time present() noexcept;
  bool is_being_changed() const noexcept { return changes_ > 0; }
  leasing::lock_session& session() HOLDFAST_REQUIRES(mutex_);
  void obey(const leasing::effects& all, bool drives = false) HOLDFAST_REQUIRES(mutex_);

  // ---- what the substrate does. But for the last under the mutex.

  // Asks for what `what.send` says; `who` waits for it, and goes on to drive if it `drives`.
  virtual void post(const leasing::effects& what, listener& who, bool drives)
      HOLDFAST_REQUIRES(mutex_) = 0;
  // The request was answered. From now on it must hear what the session wants to hear.
  virtual void listen() HOLDFAST_REQUIRES(mutex_) = 0;
  // Its part of the effects: to learn the time, to renew, to ask replicas, to listen no more.
  virtual void carry_out(const leasing::effects& all) HOLDFAST_REQUIRES(mutex_) = 0;
  // When the timer of a lease that is to fire `at` fires: not later.
  virtual monotonic_time fires_at(monotonic_time at) const HOLDFAST_REQUIRES(mutex_) = 0;
  // Asks for a longer lease, and waits for the answer, which is never `late`.
  virtual result<extension_answer> ask_to_extend(milliseconds duration)
      HOLDFAST_EXCLUDES(mutex_) = 0;

  // Of timed.
  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void on_shut_down() noexcept override HOLDFAST_EXCLUDES(mutex_);
  std::shared_ptr<void> pin() noexcept override { return weak_from_this().lock(); }

 private:
  void set_timer(monotonic_time at) HOLDFAST_REQUIRES(mutex_);
  void tell_local_lock(bool was_held) HOLDFAST_EXCLUDES(mutex_);
  void on_stop() noexcept HOLDFAST_EXCLUDES(mutex_);

  engine& engine_;
  const std::shared_ptr<const lock_spec> spec_;  // keeps the local lock alive

 protected:
  local_lock* const local_;
  substrate::claim claim_;

 private:
  // Until when it is held, in nanoseconds of boot_clock; 0: it is not.
  std::atomic<std::int64_t> deadline_{0};
  // Without a unique address: the members that follow fit behind it (sizeof).
  [[no_unique_address]] loss_signal loss_;
  bool is_counted_ HOLDFAST_GUARDED_BY(mutex_) = false;  // the client's closing waits for it
  // Requests that are to come in the place of this one at the server: until they are over, and
  // given back should their callers have left, a renewal that finds this one gone proves no loss.
  std::atomic<std::uint16_t> changes_{0};

 protected:
  mutable mutex mutex_;
  leasing::lock_session session_ HOLDFAST_GUARDED_BY(mutex_);
  caller caller_ HOLDFAST_GUARDED_BY(mutex_);

 private:
  std::shared_ptr<lock_driver> self_ HOLDFAST_GUARDED_BY(mutex_);

  struct stopper {
    lock_driver* stopped;
    void operator()() const noexcept { stopped->on_stop(); }
  };
  using stop_callback = std::optional<std::stop_callback<stopper>>;
  // Null: nobody can stop it. The thread that asks destroys its contents after an attempt: that
  // waits for a callback that is running, so it must not happen under mutex_.
  std::unique_ptr<stop_callback> stop_callback_;
};

}  // namespace holdfast::runtime
