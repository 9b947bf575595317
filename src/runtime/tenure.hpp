// One attempt to get a lock and, if it succeeds, the time it is held and its release.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

#include <holdfast/result.hpp>

#include "base/mutex.hpp"
#include "dialects/holdfast/waiting.hpp"
#include "lease/acquire_machine.hpp"
#include "lease/hold_machine.hpp"
#include "lease/release_machine.hpp"
#include "redis/request.hpp"
#include "runtime/engine.hpp"
#include "runtime/holding.hpp"
#include "runtime/listener.hpp"
#include "runtime/lock_spec.hpp"

namespace holdfast::runtime {

class lock_site;

// Runs the machines against the connection and the clock: it hands them what happens and does what
// they say. One allocation for a lock's whole way from asking to released.
//
// Order of locks: mutex_, then those of connection, timers and engine; nothing of the user's runs
// under any of them. Keeps itself alive (self_) while a request or timer may still come.
//
// Thread safety: all members from any thread, unless said otherwise.
class tenure final : public holding,
                     public std::enable_shared_from_this<tenure>,
                     private redis::request,
                     private timed {
 public:
  // `site`: hears of a loss; may be null. `may_stop`: acquire() will be given a token that counts.
  tenure(engine& owner, std::shared_ptr<const lock_spec> spec, leasing::patience patience,
         bool may_stop, lock_site* site = nullptr);
  ~tenure() override;

  // Begins to ask. The listener is told once, when take_acquired() may be called. `drives`: this
  // thread goes on to drive the connection; otherwise the request is sent at once.
  void acquire(std::stop_token stop, listener who, bool drives) noexcept HOLDFAST_EXCLUDES(mutex_);
  bool has_answer() HOLDFAST_EXCLUDES(mutex_);
  leasing::outcome take_acquired() HOLDFAST_EXCLUDES(mutex_);

  // Nobody waits for the outcome any more: gives the lock back if it comes. The listener is not
  // told after this returns, unless it was before. True when it was not told.
  bool abandon() noexcept HOLDFAST_EXCLUDES(mutex_);

  // Begins to give the lock back. The listener, if there is one, is told once, when
  // take_released() may be called. False: there is nothing (more) to release, nobody is told.
  bool release(listener who) noexcept HOLDFAST_EXCLUDES(mutex_);
  result<void> take_released() override HOLDFAST_EXCLUDES(mutex_);
  // The same by way of the site, where another of us may get it.
  bool give_back(const listener& who) override;
  result<void> give_back_and_wait() override;

  void on_replaced() HOLDFAST_EXCLUDES(mutex_);

  // For a change of what this holds. From now on the server may have made it `other`.
  void may_become(char other) noexcept;
  // It has not; or nobody knows, until a renewal from now on succeeds.
  void stays_what_it_was() noexcept;
  void may_stay_what_it_was() HOLDFAST_EXCLUDES(mutex_);
  // It has, and cannot be undone.
  void cannot_stay() HOLDFAST_EXCLUDES(mutex_);

  // For replication: enough replicas have the grant, or why that is not known.
  void on_replicated(std::optional<leasing::outcome> refusal) HOLDFAST_EXCLUDES(mutex_);

  // Blocks until the server has answered.
  result<void> extend(milliseconds duration) override HOLDFAST_EXCLUDES(mutex_);

  // Lock-free but for reading the clock.
  bool held() const noexcept override;
  lease_mode mode() const noexcept override;
  nanoseconds remaining() const noexcept override;
  nanoseconds remaining(monotonic_time now) const noexcept;  // where the process is known
  dialects::token_major major() const noexcept { return claim_.granted; }

  std::stop_token lost() override HOLDFAST_EXCLUDES(mutex_);
  // Whoever had it has it no more, though this client has: who listened for the loss before,
  // listens no more.
  void change_hands() HOLDFAST_EXCLUDES(mutex_);
  const std::string& name() const noexcept override { return spec_->key.name(); }
  const lock_spec& spec() const noexcept { return *spec_; }
  engine& owner() const noexcept { return engine_; }

  // For the waiting room.
  void on_message(const master& from, const line_message& message) HOLDFAST_EXCLUDES(mutex_);
  void on_woken() HOLDFAST_EXCLUDES(mutex_);

  // For the channels: somebody listens there for us, or no more.
  void on_tuned_in(bool hears) HOLDFAST_EXCLUDES(mutex_);

  // For renewals: what they write and what came of it.
  const dialects::claim& claim() const noexcept { return claim_; }
  bool wants_renewal() const noexcept { return held_.load(std::memory_order_acquire); }
  void on_renewed(const dialects::renew_verdict& verdict, monotonic_time sent_at)
      HOLDFAST_EXCLUDES(mutex_);
  void on_renewal_missing() HOLDFAST_EXCLUDES(mutex_);

 private:
  friend class joint_request;
  // What is kept of the request under way: its bytes are written later, maybe on another thread.
  struct outgoing {
    leasing::ask what = leasing::ask::nothing;
    bool resend = false;
    bool held_back = false;  // not asked after all: the client is in quarantine
    bool in_doubt = false;   // another server has come in the place of the one that is asked
    // On our clock. A request may wait for its connection: the server's is known when it is
    // written.
    monotonic_time not_after{};
  };
  // What has ended; how is in failed_. Between asking and that may be `replicating`: it is
  // granted and does not count yet; then perhaps `refused`: it never did, and is given back.
  // Both ends before it has begun come from other threads than the one that will begin it.
  enum class beginning : std::uint8_t { not_yet, stopped, abandoned, begun };
  enum class ending : std::uint8_t { none, replicating, refused, asking, releasing };
  using acquiring = leasing::acquire_machine;
  using holding = leasing::hold_machine;
  using releasing = leasing::release_machine;

  // Of redis::request and timed.
  void write(resp::writer& out, monotonic_time sent_at) override;
  void on_reply(resp::value& reply) override HOLDFAST_EXCLUDES(mutex_);
  bool leave_unheard() HOLDFAST_EXCLUDES(mutex_);
  void hear_reply(resp::value& reply) HOLDFAST_EXCLUDES(mutex_);
  void on_failed(redis::fate what, const redis::breakdown& why) override HOLDFAST_EXCLUDES(mutex_);
  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void on_other_server(const redis::slot_set& of) override HOLDFAST_EXCLUDES(mutex_);
  void on_shut_down() noexcept override HOLDFAST_EXCLUDES(mutex_);
  std::shared_ptr<void> pin() noexcept override { return weak_from_this().lock(); }

  static monotonic_time present() noexcept;
  std::uint16_t slot() const noexcept { return spec_->key.slot(); }

  void obey(const leasing::step& step) HOLDFAST_REQUIRES(mutex_);
  void obey(const leasing::release_step& step) HOLDFAST_REQUIRES(mutex_);
  void obey(const leasing::hold_step& step) HOLDFAST_REQUIRES(mutex_);
  void send(leasing::ask what, bool resend) HOLDFAST_REQUIRES(mutex_);
  void hold(const leasing::acquire_outcome& got) HOLDFAST_REQUIRES(mutex_);
  void tell_grant() HOLDFAST_REQUIRES(mutex_);
  void refuse(leasing::outcome why) HOLDFAST_REQUIRES(mutex_);
  bool begin_release(listener who) HOLDFAST_REQUIRES(mutex_);
  void stand_in_line() HOLDFAST_REQUIRES(mutex_);
  void leave_line() HOLDFAST_REQUIRES(mutex_);
  void leave_room() HOLDFAST_REQUIRES(mutex_);
  void listen_in_slot() HOLDFAST_REQUIRES(mutex_);
  bool hears_messages() const HOLDFAST_REQUIRES(mutex_);
  std::string channel_in_slot() const;
  void tune_in() HOLDFAST_REQUIRES(mutex_);
  void tune_out() HOLDFAST_REQUIRES(mutex_);
  leasing::step hear(acquiring& machine, const line_message& message) HOLDFAST_REQUIRES(mutex_);
  void conclude(ending what, std::optional<errc> code, std::string_view detail) noexcept
      HOLDFAST_REQUIRES(mutex_);
  void tell() HOLDFAST_REQUIRES(mutex_);
  bool begin_change() HOLDFAST_REQUIRES(mutex_);
  void note_what_is_changed() HOLDFAST_REQUIRES(mutex_);
  void settle_change(const leasing::step& step) HOLDFAST_REQUIRES(mutex_);
  void confirm_mode() HOLDFAST_REQUIRES(mutex_);
  dialects::renew_verdict without_delay(dialects::renew_verdict verdict) const;
  result<void> extended(const dialects::renew_verdict& verdict, milliseconds asked,
                        monotonic_time sent_at, monotonic_time now) HOLDFAST_EXCLUDES(mutex_);
  bool is_listed() const noexcept { return !spec_->is_gate && spec_->foreign == nullptr; }
  void list_when_due(monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  void list_gate_when_due(monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  void list_no_longer(monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  void lose() HOLDFAST_REQUIRES(mutex_);
  void tell_site(bool was_held) HOLDFAST_EXCLUDES(mutex_);
  void finish() HOLDFAST_REQUIRES(mutex_);
  void set_busy(bool busy) HOLDFAST_REQUIRES(mutex_);
  void delay_closing(bool does) HOLDFAST_REQUIRES(mutex_);
  void on_stop() noexcept HOLDFAST_EXCLUDES(mutex_);

  engine& engine_;
  const std::shared_ptr<const lock_spec> spec_;  // keeps the site alive
  lock_site* const site_;
  dialects::claim claim_;  // changes only while no request and no renewal is under way
  outgoing outgoing_;      // the same
  std::atomic<bool> held_{false};
  std::atomic<bool> listened_{false};  // somebody has asked for the loss signal
  // Requests that are to come in the place of this one at the server: until they are over, and
  // given back should their callers have left, a renewal that finds this one gone proves no loss.
  std::atomic<std::uint16_t> changes_{0};
  // How many of them may have been carried out, for how many of these nobody will ever say so, and
  // into which modes (a bit for each): see tenure_holding.cpp.
  std::atomic<std::uint32_t> doubts_{0};
  std::atomic<std::int64_t> deadline_{0};  // nanoseconds of boot_clock

  mutex mutex_;
  errc failed_ HOLDFAST_GUARDED_BY(mutex_){};  // what ended: not well; errc{}: well
  std::variant<acquiring, holding, releasing> machine_ HOLDFAST_GUARDED_BY(mutex_);
  listener listener_ HOLDFAST_GUARDED_BY(mutex_);
  beginning begun_ HOLDFAST_GUARDED_BY(mutex_) = beginning::not_yet;
  bool driven_ HOLDFAST_GUARDED_BY(mutex_) = false;  // this thread goes on to drive the connection
  bool was_lost_ HOLDFAST_GUARDED_BY(mutex_) = false;
  bool was_replaced_ HOLDFAST_GUARDED_BY(mutex_) = false;   // while held: nothing to give back
  bool delays_closing_ HOLDFAST_GUARDED_BY(mutex_) = true;  // the client waits for it while busy
  bool is_tuned_in_ HOLDFAST_GUARDED_BY(mutex_) = false;    // among those of a channel
  bool is_known_ HOLDFAST_GUARDED_BY(mutex_) = false;  // in the waiting room, but listens no more
  ending ended_ HOLDFAST_GUARDED_BY(mutex_) = ending::none;  // how asking, and later releasing, did
  // Where it listens, being in the waiting room; null: it is not. And the thread that does.
  redis::connection* line_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;
  redis::waiter* line_sleeper_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;
  std::unique_ptr<std::string> why_failed_ HOLDFAST_GUARDED_BY(mutex_);  // null: no more is known
  // Of what is held, or waits at a gate: when the index of held locks is told of it (again). Of
  // what is given back: for how long its caller waits. Every held lock has such an object, so it is
  // one.
  monotonic_time next_at_ HOLDFAST_GUARDED_BY(mutex_){};
  std::stop_source lost_ HOLDFAST_GUARDED_BY(mutex_){std::nostopstate};
  std::shared_ptr<tenure> self_ HOLDFAST_GUARDED_BY(mutex_);

  struct stopper {
    tenure* stopped;
    void operator()() const noexcept { stopped->on_stop(); }
  };
  using stop_callback = std::optional<std::stop_callback<stopper>>;
  // Null: nobody can stop it. What it holds is destroyed after an attempt, by the thread that asks:
  // that waits for a callback that is running, so it must not happen under mutex_.
  std::unique_ptr<stop_callback> stop_callback_;
};

static_assert(sizeof(tenure) <= 512, "memory of every held lock");

}  // namespace holdfast::runtime
