// A thread or coroutine that waits for another one of its own client.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <variant>

#include "base/identity.hpp"
#include "base/mutex.hpp"
#include "lease/acquire_machine.hpp"
#include "lease/local_turns.hpp"
#include "net/waiter.hpp"
#include "runtime/holding.hpp"
#include "runtime/listener.hpp"
#include "runtime/timers.hpp"

namespace holdfast::runtime {

class local_lock;
class lock_driver;

// Its lock says under the lock's mutex what has come of the waiting, once: its turn to ask the
// server is an end, too.
class local_waiter final : public leasing::local_turns::waiter,
                           public std::enable_shared_from_this<local_waiter>,
                           private timed {
 public:
  // `thread`: which one waits; 0: a coroutine does.
  local_waiter(std::shared_ptr<local_lock> at, leasing::patience patience, identity thread);
  ~local_waiter();

  // The listener is told when look() is worth it. Once, if it is a continuation.
  void begin(std::stop_token stop, const listener& who) noexcept;

  struct out_of_memory {};
  // Nothing yet; the lock; it was its turn to ask the server, by this; how it has failed; or there
  // was no memory for what it would have got.
  using news = std::variant<std::monostate, grant, std::shared_ptr<lock_driver>, leasing::outcome,
                            out_of_memory>;
  // Throws std::bad_alloc when it was out of memory.
  news look();

  // As lock_driver::abandon.
  void abandon();

  // The waiting thread sleeps on this.
  net::waiter& sleeper() noexcept { return sleeper_; }

  // For its lock. Tells the analysis that the lock's mutex, which is this one, is held.
  void assert_held() const noexcept HOLDFAST_ASSERTS(mutex_) {}
  identity thread() const noexcept { return thread_; }
  leasing::patience patience() const noexcept { return patience_; }
  bool may_stop() const noexcept { return stop_.stop_possible(); }
  bool drives() const noexcept { return listener_.drives(); }
  bool is_waiting() const noexcept HOLDFAST_REQUIRES(mutex_) { return news_.index() == 0; }
  // It stands in the line from now on, and is kept alive.
  void enter_line() HOLDFAST_REQUIRES(mutex_);
  // The waiting has ended so. The caller keeps what keeps this alive.
  std::shared_ptr<local_waiter> end(news how) noexcept HOLDFAST_REQUIRES(mutex_);
  news take_news() HOLDFAST_REQUIRES(mutex_) { return std::move(news_); }
  // The listener, that there is something to look at.
  void tell() const;
  // Begins to ask the server by this. `drives` as in lock_driver::acquire.
  void ask(lock_driver& by, bool drives) const noexcept;

 private:
  void on_timer(monotonic_time now) override;
  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return weak_from_this().lock(); }
  void give_up(leasing::outcome why);

  const std::shared_ptr<local_lock> local_;
  mutex& mutex_;  // of the lock
  const leasing::patience patience_;
  const identity thread_;
  news news_ HOLDFAST_GUARDED_BY(mutex_);
  std::shared_ptr<local_waiter> self_ HOLDFAST_GUARDED_BY(mutex_);  // while it stands in the line
  net::waiter sleeper_;
  listener listener_;  // these two do not change once it stands in the line
  std::stop_token stop_;

  struct stopper {
    local_waiter* stopped;
    void operator()() const noexcept { stopped->give_up({.code = errc::cancelled}); }
  };
  std::optional<std::stop_callback<stopper>> stop_callback_;
};

}  // namespace holdfast::runtime
