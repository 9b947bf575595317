// Shared by all handles of a client, wherever its locks are kept: threads, timers, identity.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include <holdfast/options.hpp>

#include "base/key_space.hpp"
#include "base/lock_key.hpp"
#include "base/request_id.hpp"
#include "lease/acquire_machine.hpp"
#include "net/background_thread.hpp"
#include "net/event_source.hpp"
#include "runtime/callback_thread.hpp"
#include "runtime/grant_log.hpp"
#include "runtime/local_locks.hpp"
#include "runtime/lock_spec.hpp"
#include "runtime/reporter.hpp"
#include "runtime/timers.hpp"
#include "runtime/wait_watch.hpp"

namespace holdfast::runtime {

class local_lock;
class lock_driver;

// The substrate, which keeps the locks, derives from it: an engine makes the drivers whose requests
// it carries. Thread safety: all members from any thread, unless said otherwise.
class engine {
 public:
  explicit engine(const client_options& options);
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  virtual ~engine() = default;

  // Gives what is under way a bounded time to end, then ends everything. Not on a thread of ours.
  virtual void shut_down() noexcept = 0;

  // False in the child of a fork: nothing here may be touched then.
  bool is_in_its_process() const noexcept;

  runtime::timers& timers() noexcept { return timers_; }
  callback_thread& callbacks() noexcept { return callbacks_; }
  runtime::local_locks& local_locks() noexcept { return locals_; }
  // Null: nobody listens to what happens.
  const runtime::reporter* reporter() const noexcept { return reporter_.get(); }
  // Tells it soon, from any thread and under any mutex.
  void report(const event& what) const noexcept {
    if (reporter_) reporter_->post(what);
  }
  // On this thread: see reporter::tell.
  void tell(const event& what) const noexcept {
    if (reporter_) reporter_->tell(what);
  }
  // Whether somebody wants to know of calls for locks, or of grants and their ends.
  bool is_observed() noexcept { return reporter_ != nullptr || grants() != nullptr; }
  const client_options& options() const noexcept { return options_; }
  // The token that stops a call that was given `given`: a token that never stops stands for none.
  std::stop_token stop_of_call(std::stop_token given) const noexcept {
    return given.stop_possible() ? std::move(given) : options_.stop;
  }
  // Names all keys and channels of this client, but for locks of other libraries.
  const key_space& space() const noexcept { return space_; }
  // Of a lock in Holdfast's own layout. Throws failure{invalid_name}.
  auto key_of(std::string_view lock_name) const { return lock_key{space_, lock_name}; }

  const client_id& id() const noexcept { return id_; }
  // `revocable`: others may ask to have the lock back.
  request_id next_request(bool revocable = false) noexcept;
  std::uint64_t next_seed() noexcept;

  // Counts what must not be cut off when the client is closed: attempts and releases under way.
  void began() noexcept { under_way_.fetch_add(1, std::memory_order_relaxed); }
  void ended() noexcept;

  // ---- the substrate's part

  // Throws failure{unsupported} where it cannot keep such a lock.
  virtual void check(const lock_spec& spec) const = 0;
  // For one attempt. `local`, may be null, and `may_stop`: see lock_driver.
  virtual std::shared_ptr<lock_driver> make_driver(std::shared_ptr<const lock_spec> spec,
                                                   leasing::patience patience, bool may_stop,
                                                   local_lock* local) = 0;
  // Where a thread waits for a lock that is kept in this hash slot; and one that waits for any:
  // null where that is not one place.
  virtual net::event_source& source_of(std::uint16_t slot) noexcept = 0;
  virtual net::event_source* home() noexcept = 0;
  // Takes the memory that the calling thread needs to drive: before anything is asked, since a
  // thread that cannot wait for its answer must not go away either.
  virtual void prepare_to_drive() const = 0;

  // From one to the other the lock that this request was granted may be retained: its local lock is
  // told when others want it.
  virtual void expect_revoke(const request_id& request, const std::shared_ptr<local_lock>& by) = 0;
  virtual void expect_no_revoke(const request_id& request) = 0;

  // `held` is over: requests that were to change it ask again, and hear of that.
  virtual void wake_changes_of(const lock_driver& held) = 0;

  // Null unless the client detects deadlocks.
  virtual wait_watch* deadlocks() noexcept = 0;
  // Null unless the client keeps an audit trail.
  virtual grant_log* grants() noexcept { return nullptr; }

 protected:
  // In a derived constructor, when what it attends to is there; see background_thread.
  net::background_thread& helper() noexcept { return helper_; }
  void wait_until_quiet() noexcept;

 private:
  const client_options options_;
  const key_space space_;
  const std::uint64_t generation_;
  const client_id id_;
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> seed_;
  std::atomic<std::size_t> under_way_{0};
  std::mutex quiet_guard_;
  std::condition_variable quiet_;

  net::background_thread helper_;
  // Attempts that were left in what a substrate adds end with it, and locks with them, which strike
  // themselves off these two.
  runtime::timers timers_{helper_};
  runtime::local_locks locals_;
  // Before the callback thread, which still tells it what is queued when it ends.
  const std::unique_ptr<const runtime::reporter> reporter_{
      runtime::reporter::of(options_, callbacks_)};
  callback_thread callbacks_{timers_};
};

// Of a client whose locks this substrate keeps; null: they are kept elsewhere.
template <typename Substrate>
Substrate* find_engine(engine& of) noexcept {
  return dynamic_cast<Substrate*>(&of);
}

}  // namespace holdfast::runtime
