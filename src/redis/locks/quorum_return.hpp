// Takes the votes for one request back.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.hpp"
#include "lease/quorum_lease.hpp"
#include "redis/locks/quorum_call.hpp"
#include "redis/locks/quorum_reader.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

// Lives until every member has answered or the votes have run out by themselves.
// Order of locks: mutex_, then those of connections and timers.
// Thread safety: all members from any thread.
class quorum_return final : public std::enable_shared_from_this<quorum_return>,
                            public quorum_errand,
                            private quorum_call::asker,
                            private timed {
 public:
  using scope = leasing::quorum_release_machine::scope;
  // With no lock held, once.
  using teller = std::function<void(const leasing::outcome&)>;

  // `claim` without a listener; `listeners`: of each member, the request that wants to hear nothing
  // any more, or empty. `sleeper`: a thread that will call drive().
  static std::shared_ptr<quorum_return> start(std::shared_ptr<const quorum_spec> spec,
                                              const scope& where,
                                              const substrate::quorum_claim& claim,
                                              std::vector<request_id> listeners, teller tell,
                                              net::waiter* sleeper = nullptr);
  quorum_return(std::shared_ptr<const quorum_spec> spec, const scope& where,
                const substrate::quorum_claim& claim, std::vector<request_id> listeners,
                teller tell);
  ~quorum_return();

  void abandon() override HOLDFAST_EXCLUDES(mutex_);

  // Reads until it was told.
  void drive(net::waiter& self) HOLDFAST_EXCLUDES(mutex_);

 private:
  void begin(net::waiter* sleeper) HOLDFAST_EXCLUDES(mutex_);
  void on_answer(const quorum_call::question& asked, const resp::value& reply,
                 monotonic_time sent_at) override HOLDFAST_EXCLUDES(mutex_);
  void on_missing(const quorum_call::question& asked, no_answer how,
                  const redis::breakdown& why) override HOLDFAST_EXCLUDES(mutex_);
  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return weak_from_this().lock(); }

  void ask(std::size_t member) HOLDFAST_REQUIRES(mutex_);
  // The outcome to be told now, if any.
  std::optional<leasing::outcome> obey(const leasing::quorum_release_step& step)
      HOLDFAST_REQUIRES(mutex_);
  void tell(const std::optional<leasing::outcome>& what) HOLDFAST_EXCLUDES(mutex_);
  quorum_group& group() const noexcept { return *spec_->group; }

  const std::shared_ptr<const quorum_spec> spec_;
  const substrate::quorum_claim claim_;
  const std::vector<request_id> listeners_;

  mutex mutex_;
  teller tell_ HOLDFAST_GUARDED_BY(mutex_);
  leasing::quorum_release_machine machine_ HOLDFAST_GUARDED_BY(mutex_);
  quorum_reader reader_;  // but for drive(), under mutex_
  bool is_decided_ HOLDFAST_GUARDED_BY(mutex_) = false;
  bool is_abandoned_ HOLDFAST_GUARDED_BY(mutex_) = false;  // asks nobody any more
  bool is_over_ HOLDFAST_GUARDED_BY(mutex_) = false;       // it was told
  std::shared_ptr<quorum_return> self_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::redis_locks
