// A lock of a quorum that this process has.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.hpp"
#include "lease/quorum_lease.hpp"
#include "redis/locks/quorum_call.hpp"
#include "redis/locks/quorum_spec.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

class quorum_return;

// Runs the machine against the members and the clock. Order of locks: mutex_, then those of
// connections, timers and callbacks; nothing of the user's runs under any of them.
// Thread safety: all members from any thread.
class quorum_driver final : public holding,
                            public std::enable_shared_from_this<quorum_driver>,
                            private quorum_call::asker,
                            private timed {
 public:
  // `handle`: null when nobody has one any more. `owner`, `token`: of the request that won.
  // `listeners`: the request that waited at each member; or empty.
  quorum_driver(std::shared_ptr<quorum_handle> handle, std::shared_ptr<const quorum_spec> spec,
                const request_id& owner, substrate::token_major token,
                std::vector<request_id> listeners, const leasing::quorum_outcome& won);
  ~quorum_driver() override;
  void start() HOLDFAST_EXCLUDES(mutex_);
  // See quorum_lease_machine.
  void confirm(std::size_t member) HOLDFAST_EXCLUDES(mutex_);

  const std::string& name() const noexcept override { return spec_->key->name(); }
  bool held() const noexcept override { return remaining() > nanoseconds{0}; }
  lease_mode mode() const noexcept override { return lease_mode::exclusive; }
  nanoseconds remaining() const noexcept override;
  std::stop_token lost() override HOLDFAST_EXCLUDES(mutex_);
  result<void> extend(milliseconds duration) override HOLDFAST_EXCLUDES(mutex_);
  bool set_note(std::string_view) noexcept override { return false; }
  bool give_back(const listener& who) override HOLDFAST_EXCLUDES(mutex_);
  result<void> take_released() override HOLDFAST_EXCLUDES(mutex_);
  result<void> give_back_and_wait() override;

 private:
  void on_answer(const quorum_call::question& asked, const resp::value& reply,
                 monotonic_time sent_at) override HOLDFAST_EXCLUDES(mutex_);
  void on_missing(const quorum_call::question& asked, no_answer how,
                  const redis::breakdown& why) override HOLDFAST_EXCLUDES(mutex_);
  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return weak_from_this().lock(); }

  void obey(const leasing::quorum_lease_step& step) HOLDFAST_REQUIRES(mutex_);
  void note_deadline() HOLDFAST_REQUIRES(mutex_);
  // Null: it was given back before.
  std::shared_ptr<quorum_return> begin_release(const listener& who, net::waiter* sleeper)
      HOLDFAST_EXCLUDES(mutex_);
  void on_released(const leasing::outcome& how) HOLDFAST_EXCLUDES(mutex_);
  quorum_group& group() const noexcept { return *spec_->group; }

  const std::shared_ptr<quorum_handle> handle_;
  const std::shared_ptr<const quorum_spec> spec_;
  const request_id owner_;
  const substrate::token_major token_;
  const std::vector<request_id> listeners_;
  std::atomic<std::int64_t> deadline_{0};  // nanoseconds of boot_clock; 0: not held

  mutex mutex_;
  leasing::quorum_lease_machine machine_ HOLDFAST_GUARDED_BY(mutex_);
  milliseconds wanted_ HOLDFAST_GUARDED_BY(mutex_);   // the lease that renewals ask for
  milliseconds longest_ HOLDFAST_GUARDED_BY(mutex_);  // that any asked for
  net::waiter* extends_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;
  bool released_ HOLDFAST_GUARDED_BY(mutex_) = false;
  bool was_lost_ HOLDFAST_GUARDED_BY(mutex_) = false;
  std::stop_source lost_ HOLDFAST_GUARDED_BY(mutex_){std::nostopstate};
  listener listener_ HOLDFAST_GUARDED_BY(mutex_);
  std::optional<leasing::outcome> outcome_ HOLDFAST_GUARDED_BY(mutex_);  // of the release
};

}  // namespace holdfast::redis_locks
