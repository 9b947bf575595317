// One call that wants a lock of a quorum.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/mutex.hpp"
#include "lease/quorum_machine.hpp"
#include "redis/locks/quorum_call.hpp"
#include "redis/locks/quorum_reader.hpp"
#include "redis/locks/quorum_spec.hpp"
#include "redis/locks/waiting_room.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

class quorum_driver;

// Runs the machine against the members and the clock: it hands it what happens and does what it
// says. Order of locks: mutex_, then those of a quorum_driver or quorum_return, connections, timers
// and waiting rooms; nothing of the user's runs under any of them. Keeps itself alive (self_) until
// it has ended; a late answer keeps it alive as well. Thread safety: all members from any thread,
// unless said otherwise.
class quorum_bid final : public std::enable_shared_from_this<quorum_bid>,
                         public hint_listener,
                         private quorum_call::asker,
                         private timed {
 public:
  quorum_bid(std::weak_ptr<quorum_handle> handle, std::shared_ptr<const quorum_spec> spec,
             leasing::patience patience);
  ~quorum_bid();

  // The listener is told once, when take() may be called.
  void begin(std::stop_token stop, const listener& who) HOLDFAST_EXCLUDES(mutex_);
  // Reads until it has ended: by the thread that began it as the listener.
  void drive(net::waiter& self) HOLDFAST_EXCLUDES(mutex_);
  acquired take() HOLDFAST_EXCLUDES(mutex_);
  // Nobody wants it any more: nobody is told after this, and what comes is given back.
  void abandon() HOLDFAST_EXCLUDES(mutex_);

  void on_hint() override HOLDFAST_EXCLUDES(mutex_);

 private:
  void on_answer(const quorum_call::question& asked, const resp::value& reply,
                 monotonic_time sent_at) override HOLDFAST_EXCLUDES(mutex_);
  void on_missing(const quorum_call::question& asked, no_answer how,
                  const redis::breakdown& why) override HOLDFAST_EXCLUDES(mutex_);
  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return weak_from_this().lock(); }
  void on_stop() noexcept HOLDFAST_EXCLUDES(mutex_);

  void obey(const leasing::quorum_step& step) HOLDFAST_REQUIRES(mutex_);
  void ask(const leasing::member_ask& what) HOLDFAST_REQUIRES(mutex_);
  void take_back(const leasing::quorum_step& step) HOLDFAST_REQUIRES(mutex_);
  void conclude(const leasing::quorum_outcome& how) HOLDFAST_REQUIRES(mutex_);
  void listen() HOLDFAST_REQUIRES(mutex_);
  void stop_listening() HOLDFAST_REQUIRES(mutex_);
  quorum_group& group() const noexcept { return *spec_->group; }

  const std::weak_ptr<quorum_handle> handle_;  // of the caller, while it is there
  const std::shared_ptr<const quorum_spec> spec_;
  const monotonic_time since_;
  std::vector<request_id> listeners_;  // of each member; empty: asks once, and hears nothing

  mutex mutex_;
  leasing::quorum_machine machine_ HOLDFAST_GUARDED_BY(mutex_);
  quorum_reader reader_;                          // but for drive(), under mutex_
  request_id owner_ HOLDFAST_GUARDED_BY(mutex_);  // of the present attempt
  listener listener_ HOLDFAST_GUARDED_BY(mutex_);
  bool listens_ HOLDFAST_GUARDED_BY(mutex_) = false;
  bool stopped_early_ HOLDFAST_GUARDED_BY(mutex_) = false;  // before it had begun
  bool begun_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::optional<acquired> ended_ HOLDFAST_GUARDED_BY(mutex_);
  std::weak_ptr<quorum_driver> won_ HOLDFAST_GUARDED_BY(mutex_);
  std::shared_ptr<quorum_bid> self_ HOLDFAST_GUARDED_BY(mutex_);

  struct stopper {
    quorum_bid* stopped;
    void operator()() const noexcept { stopped->on_stop(); }
  };
  // As in lock_driver: destroying it waits for a callback that runs, so not under mutex_.
  std::unique_ptr<std::stop_callback<stopper>> stop_callback_;
};

}  // namespace holdfast::redis_locks
