// The request for one lock at a Redis server, and the time that the lock is held there.
#pragma once

#include <memory>
#include <optional>

#include "redis/connection/request.hpp"
#include "redis/locks/index_entry.hpp"
#include "redis/locks/line.hpp"
#include "redis/locks/outgoing.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

// Writes what its driver posts, and tells the session what the server answers and says unasked.
// Thread safety: all members from any thread, unless said otherwise.
class redis_lock final : public runtime::lock_driver, private redis::request {
 public:
  // See lock_driver::attempt.
  redis_lock(redis_engine& owner, const std::shared_ptr<const lock_spec>& spec,
             leasing::patience patience, bool may_stop, local_lock* local);

  ~redis_lock() override { end_timer(); }

  redis_engine& owner() const noexcept { return static_cast<redis_engine&>(lock_driver::owner()); }

  // For replication: enough replicas have the grant, or why that is not known.
  void on_replicated(const std::optional<leasing::outcome>& refusal) HOLDFAST_EXCLUDES(mutex_);

  // For the waiting room.
  void on_message(const master& from, const line_message& message) HOLDFAST_EXCLUDES(mutex_);
  void on_woken() HOLDFAST_EXCLUDES(mutex_);

  // For the channels: somebody listens there for us, or no more.
  void on_tuned_in(bool hears) HOLDFAST_EXCLUDES(mutex_);

  // For renewals: the result of one.
  void on_renewed(const substrate::renew_verdict& verdict, monotonic_time sent_at)
      HOLDFAST_EXCLUDES(mutex_);
  void on_renewal_missing() HOLDFAST_EXCLUDES(mutex_);

  // Of runtime::holding.
  result<void> extend(milliseconds duration) override HOLDFAST_EXCLUDES(mutex_);
  bool set_note(std::string_view text) noexcept override;

  std::shared_ptr<redis_lock> self() { return std::static_pointer_cast<redis_lock>(pin()); }

 private:
  friend class joint_request;
  std::uint16_t slot() const noexcept { return spec().key.slot(); }

  // Of redis::request.
  void write(resp::writer& out, monotonic_time sent_at) override {
    outgoing_.write(owner(), spec(), claim_, out, sent_at);
  }
  void on_reply(resp::value& reply) override HOLDFAST_EXCLUDES(mutex_);
  void on_failed(no_answer what, const redis::breakdown& why) override HOLDFAST_EXCLUDES(mutex_);
  // Of runtime::timed.
  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void on_doubt(const slot_set& of) override HOLDFAST_EXCLUDES(mutex_);
  // Of runtime::lock_driver.
  void post(const leasing::effects& what, runtime::listener& who, bool drives) override
      HOLDFAST_REQUIRES(mutex_);
  void listen() override HOLDFAST_REQUIRES(mutex_);
  void carry_out(const leasing::effects& all) override HOLDFAST_REQUIRES(mutex_);
  monotonic_time fires_at(monotonic_time at) const override HOLDFAST_REQUIRES(mutex_);
  result<extension_answer> ask_to_extend(milliseconds duration) override HOLDFAST_EXCLUDES(mutex_);

  leasing::effects heard(leasing::lock_session& its, const resp::value& reply);
  leasing::effects hear(leasing::lock_session& its, const line_message& message);
  // For the index of held locks.
  void note_soon(monotonic_time now) HOLDFAST_EXCLUDES(mutex_);

  outgoing outgoing_;  // changes only while no request and no renewal is under way
  [[no_unique_address]] line line_ HOLDFAST_GUARDED_BY(mutex_);
  index_entry indexed_ HOLDFAST_GUARDED_BY(mutex_);
};

static_assert(sizeof(redis_lock) <= 512, "memory of every held lock");

}  // namespace holdfast::redis_locks
