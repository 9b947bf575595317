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
#include "redis/request.hpp"
#include "runtime/caller.hpp"
#include "runtime/engine.hpp"
#include "runtime/holding.hpp"
#include "runtime/index_entry.hpp"
#include "runtime/line.hpp"
#include "runtime/listener.hpp"
#include "runtime/lock_spec.hpp"
#include "runtime/loss_signal.hpp"
#include "runtime/outgoing.hpp"

namespace holdfast::runtime {

class local_lock;

// Drives a lock_session against the connection and the clock: tells it what happens, and carries
// out its effects. One allocation for a lock's whole way from asking to released.
//
// Order of locks: mutex_, then those of connection, timers and engine; nothing of the user's runs
// under any of them. Keeps itself alive (self_) while a request or timer may still come.
//
// Thread safety: all members from any thread, unless said otherwise.
class lock_driver final : public holding,
                          public std::enable_shared_from_this<lock_driver>,
                          private redis::request,
                          private timed {
 public:
  // `local`: hears of a loss; may be null. `may_stop`: acquire() will be given a token that counts.
  lock_driver(engine& owner, std::shared_ptr<const lock_spec> spec, leasing::patience patience,
              bool may_stop, local_lock* local = nullptr);
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

  // For replication: enough replicas have the grant, or why that is not known.
  void on_replicated(std::optional<leasing::outcome> refusal) HOLDFAST_EXCLUDES(mutex_);

  // Blocks until the server has answered.
  result<void> extend(milliseconds duration) override HOLDFAST_EXCLUDES(mutex_);

  lease_mode mode() const noexcept override HOLDFAST_EXCLUDES(mutex_) {
    if (!spec_->wants) return lease_mode::exclusive;
    // In a forked child a thread of the parent may have the mutex for ever.
    if (!engine_.is_in_its_process()) return lease_mode::none;
    const scoped_mutex lock(mutex_);
    return static_cast<lease_mode>(session_.mode());
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
  // Whoever had it has it no more, though this client has: who listened for the loss before,
  // listens no more.
  void change_hands() HOLDFAST_EXCLUDES(mutex_) {
    if (!loss_.is_heard()) return;
    const scoped_mutex lock(mutex_);
    loss_.change_hands();
  }
  const std::string& name() const noexcept override { return spec_->key.name(); }
  const lock_spec& spec() const noexcept { return *spec_; }
  engine& owner() const noexcept { return engine_; }

  // For the waiting room.
  void on_message(const master& from, const line_message& message) HOLDFAST_EXCLUDES(mutex_);
  void on_woken() HOLDFAST_EXCLUDES(mutex_);

  // For the channels: somebody listens there for us, or no more.
  void on_tuned_in(bool hears) HOLDFAST_EXCLUDES(mutex_);

  // For renewals: what they write and what came of it.
  const substrate::claim& claim() const noexcept { return claim_; }
  // It has a lease, or had one until a moment ago.
  bool wants_renewal() const noexcept { return deadline_.load(std::memory_order_acquire) != 0; }
  void on_renewed(const substrate::renew_verdict& verdict, monotonic_time sent_at)
      HOLDFAST_EXCLUDES(mutex_);
  void on_renewal_missing() HOLDFAST_EXCLUDES(mutex_);

 private:
  friend class joint_request;
  // Of redis::request and timed.
  void write(resp::writer& out, monotonic_time sent_at) override {
    outgoing_.write(engine_, *spec_, claim_, out, sent_at);
  }
  void on_reply(resp::value& reply) override HOLDFAST_EXCLUDES(mutex_);
  void on_failed(no_answer what, const redis::breakdown& why) override HOLDFAST_EXCLUDES(mutex_);
  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void on_other_server(const redis::slot_set& of) override HOLDFAST_EXCLUDES(mutex_);
  void on_shut_down() noexcept override HOLDFAST_EXCLUDES(mutex_);
  std::shared_ptr<void> pin() noexcept override { return weak_from_this().lock(); }

  std::uint16_t slot() const noexcept { return spec_->key.slot(); }
  bool is_being_changed() const noexcept { return changes_ > 0; }

  // Something happens: `tell` tells the session, and its effects are carried out.
  template <typename Tell>
  void happen(Tell tell) HOLDFAST_EXCLUDES(mutex_);
  leasing::lock_session& session() HOLDFAST_REQUIRES(mutex_);
  leasing::effects heard(const resp::value& reply) HOLDFAST_REQUIRES(mutex_);
  leasing::effects hear(const line_message& message) HOLDFAST_REQUIRES(mutex_);
  // `drives`: this thread goes on to drive the connection.
  void obey(const leasing::effects& all, bool drives = false) HOLDFAST_REQUIRES(mutex_);
  void send(const leasing::effects& what, bool drives) HOLDFAST_REQUIRES(mutex_);
  void set_timer(monotonic_time at) HOLDFAST_REQUIRES(mutex_);
  void listen() HOLDFAST_REQUIRES(mutex_);
  // For the index of held locks.
  void note_when_due(monotonic_time now) HOLDFAST_EXCLUDES(mutex_);
  void note_soon(monotonic_time now) HOLDFAST_EXCLUDES(mutex_);
  void tell_local_lock(bool was_held) HOLDFAST_EXCLUDES(mutex_);
  void on_stop() noexcept HOLDFAST_EXCLUDES(mutex_);

  engine& engine_;
  const std::shared_ptr<const lock_spec> spec_;  // keeps the local lock alive
  local_lock* const local_;
  substrate::claim claim_;  // changes only while no request and no renewal is under way
  outgoing outgoing_;       // the same
  // Until when it is held, in nanoseconds of boot_clock; 0: it is not.
  std::atomic<std::int64_t> deadline_{0};
  // Without unique addresses: what follows each of the two fits behind it (sizeof).
  [[no_unique_address]] loss_signal loss_;
  bool is_counted_ HOLDFAST_GUARDED_BY(mutex_) = false;  // the client's closing waits for it
  // Requests that are to come in the place of this one at the server: until they are over, and
  // given back should their callers have left, a renewal that finds this one gone proves no loss.
  std::atomic<std::uint16_t> changes_{0};
  mutable mutex mutex_;

  leasing::lock_session session_ HOLDFAST_GUARDED_BY(mutex_);
  caller caller_ HOLDFAST_GUARDED_BY(mutex_);
  [[no_unique_address]] line line_ HOLDFAST_GUARDED_BY(mutex_);
  index_entry indexed_ HOLDFAST_GUARDED_BY(mutex_);
  std::shared_ptr<lock_driver> self_ HOLDFAST_GUARDED_BY(mutex_);

  struct stopper {
    lock_driver* stopped;
    void operator()() const noexcept { stopped->on_stop(); }
  };
  using stop_callback = std::optional<std::stop_callback<stopper>>;
  // Null: nobody can stop it. What it holds is destroyed after an attempt, by the thread that asks:
  // that waits for a callback that is running, so it must not happen under mutex_.
  std::unique_ptr<stop_callback> stop_callback_;
};

static_assert(sizeof(lock_driver) <= 512, "memory of every held lock");

}  // namespace holdfast::runtime
