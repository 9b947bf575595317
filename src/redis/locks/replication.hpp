// Whether replicas have a grant, before it counts (client_options::min_replicas).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.hpp"
#include "base/time.hpp"
#include "lease/acquire_machine.hpp"
#include "redis/connection/connection.hpp"
#include "redis/locks/shared_clock.hpp"

namespace holdfast::redis_locks {

class redis_engine;
class redis_lock;

// Of one master. Renews each grant. That proves that this server knows the grant, and makes the
// server send it to its replicas once more. Then waits until enough replicas have received that
// (WAIT; WAITAOF where it must be on their disks). All this over a connection of its own: WAIT
// stops whatever comes behind it.
//
// It goes round by round: all grants that have gathered are renewed, and one WAIT is for all of
// them. Those that come meanwhile gather for the next round; once, so do those whose connection
// broke, or whose lock another node of a cluster has now, as it says: there, if need be.
//
// Thread safety: all members from any thread, unless said otherwise.
class replication final : private redis::connection::observer, private redis::request {
 public:
  // `clock`: the master's.
  replication(redis_engine& owner, shared_clock& clock, redis::session_settings session,
              redis::connection_tuning tuning, net::background_thread& helper);
  ~replication();

  // Calls redis_lock::on_replicated, later: within half the lease, and within the time of two
  // rounds, since one may be under way. May do so more than once: the first counts.
  void confirm(std::shared_ptr<redis_lock> granted) HOLDFAST_EXCLUDES(mutex_);

  net::attendant& attended() noexcept { return connection_; }
  // After the background thread has stopped.
  void shut_down() { connection_.shut_down(); }

 private:
  class confirmation;
  using confirmations = std::vector<std::shared_ptr<confirmation>>;

  void join(std::shared_ptr<confirmation> one) HOLDFAST_EXCLUDES(mutex_);
  net::tcp_endpoint place() const HOLDFAST_EXCLUDES(mutex_);  // of the master, in a cluster
  void begin_round();
  void on_asked() HOLDFAST_EXCLUDES(mutex_);
  milliseconds most_patience() const;
  std::optional<leasing::outcome> judge(const resp::value& reply) const;
  void end_round() HOLDFAST_EXCLUDES(mutex_);

  // Of redis::request: the round's WAIT.
  void write(resp::writer& out, monotonic_time sent_at) override;
  void on_reply(resp::value& reply) override HOLDFAST_EXCLUDES(mutex_);
  void on_failed(no_answer what, const redis::breakdown& why) override HOLDFAST_EXCLUDES(mutex_);

  // Of redis::connection::observer.
  void on_connected(const redis::session_facts& facts) override HOLDFAST_EXCLUDES(mutex_);
  void on_push(resp::value&, std::uint64_t) override {}
  void on_broken() override {}

  redis_engine& engine_;
  shared_clock& clock_;
  std::atomic<std::uint64_t> sessions_{0};  // so many connections were made
  redis::connection connection_;

  mutable mutex mutex_;
  net::tcp_endpoint at_ HOLDFAST_GUARDED_BY(mutex_);    // where the last connection led
  confirmations gathered_ HOLDFAST_GUARDED_BY(mutex_);  // for the next round
  bool is_under_way_ HOLDFAST_GUARDED_BY(mutex_) = false;

  // Of the round under way: changes only between rounds.
  confirmations asked_;
  std::atomic<std::size_t> unanswered_{0};
  std::atomic<bool> is_waiting_{false};  // replicas are asked, and have not answered
  std::uint64_t session_ = 0;            // over which the WAIT was sent
  milliseconds patience_{0};             // that it has
};

}  // namespace holdfast::redis_locks
