// Everything of a client but its handle: connections, threads, timers, identity, renewals.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/options.hpp>

#include "base/key_space.hpp"
#include "base/lock_key.hpp"
#include "base/request_id.hpp"
#include "base/siphash.hpp"
#include "dialects/recipe.hpp"
#include "net/background_thread.hpp"
#include "redis/connection.hpp"
#include "runtime/callback_thread.hpp"
#include "runtime/channels.hpp"
#include "runtime/cluster.hpp"
#include "runtime/deadlock_watch.hpp"
#include "runtime/held_index.hpp"
#include "runtime/key_watchers.hpp"
#include "runtime/local_locks.hpp"
#include "runtime/observed_keys.hpp"
#include "runtime/registration.hpp"
#include "runtime/renewals.hpp"
#include "runtime/replication.hpp"
#include "runtime/timers.hpp"
#include "runtime/waiting_room.hpp"

namespace holdfast::runtime {

// Thread safety: all members from any thread, unless said otherwise.
class engine final : private redis::connection::observer {
 public:
  // `tuning` is for measurements; its `spin` is that of the options.
  engine(const redis::session_settings& session, const client_options& options,
         redis::connection_tuning tuning = {});
  ~engine();

  // Gives what is under way a bounded time to end, then ends everything. Not on a thread of ours.
  void shut_down() noexcept;

  // False in the child of a fork: nothing here may be touched then.
  bool is_in_its_process() const noexcept;

  // Who has the locks of a hash slot; among the nodes of a cluster that may change at any time.
  master& at(std::uint16_t slot) noexcept {
    return cluster_ == nullptr ? only_ : cluster_->of(slot);
  }
  redis::connection& connection(std::uint16_t slot) noexcept { return at(slot).connection; }
  shared_clock& clock(std::uint16_t slot) noexcept { return at(slot).clock; }
  bool is_cluster() const noexcept { return cluster_ != nullptr; }
  bool follows_sentinels() const noexcept {
    return only_.connection.settings().sentinels.has_value();
  }
  std::vector<master*> masters();
  cluster* its_cluster() noexcept { return cluster_.get(); }  // null: one server
  // Where a thread waits that asks for keys of several slots; see redis::waiter::home.
  redis::connection* home() noexcept { return cluster_ == nullptr ? &only_.connection : nullptr; }
  runtime::timers& timers() noexcept { return timers_; }
  runtime::renewals& renewals() noexcept { return renewals_; }
  held_index& held() noexcept { return held_; }
  callback_thread& callbacks() noexcept { return callbacks_; }
  waiting_room& waiting() noexcept { return waiting_; }
  runtime::channels& channels() noexcept { return channels_; }
  runtime::key_watchers& key_watchers() noexcept { return key_watchers_; }
  runtime::local_locks& local_locks() noexcept { return locals_; }
  observed_keys& observed() noexcept { return observed_; }
  const client_options& options() const noexcept { return options_; }
  // In which all that this client reads and writes is named, but for locks of other libraries.
  const key_space& space() const noexcept { return space_; }
  // Of a lock in Holdfast's own layout. Throws failure{invalid_name}.
  auto key_of(std::string_view lock_name) const { return lock_key{space_, lock_name}; }
  // Null unless grants must be on replicas.
  replication* replicas_of(std::uint16_t slot) noexcept { return at(slot).replicas.get(); }
  // Null unless the client detects deadlocks.
  deadlock_watch* deadlocks() noexcept { return deadlocks_.get(); }

  // Our place in the client registry; kept fresh while locks are used.
  void register_client(milliseconds lease) { registration_.refresh(lease); }

  const client_id& id() const noexcept { return id_; }

  // `revocable`: others may ask to have the lock back.
  request_id next_request(bool revocable = false) noexcept;
  // What a message must say that this request of ours was handed a lock: dialects::handed_over.
  std::uint64_t proof_of(std::uint64_t request) const noexcept { return siphash(proofs_, request); }
  std::uint64_t next_seed() noexcept;

  // Whether the server can tell us that a lock was handed to us. Supposed before we know.
  bool hears() const noexcept { return hears_.load(std::memory_order_relaxed); }

  // The largest major that this client knows for a hash slot.
  substrate::token_major floor(std::uint16_t slot) const noexcept;
  void raise_floor(std::uint16_t slot, substrate::token_major seen) noexcept;

  // Until then no new grant may be asked for or believed: the server is not the one it was.
  monotonic_time quarantine_ends() const noexcept {
    return monotonic_time{nanoseconds{quarantine_ends_.load(std::memory_order_relaxed)}};
  }

  // Counts what must not be cut off when the client is closed: attempts and releases under way.
  void began() noexcept { under_way_.fetch_add(1, std::memory_order_relaxed); }
  void ended() noexcept;

  // For the cluster: what became of the connections to its nodes, as of the only one.
  void on_connected(master& to, const redis::session_facts& facts);
  void on_push(const master& from, resp::value& message, std::uint64_t position);
  void on_broken(const master& from);
  void on_slots_moved(const redis::slot_set& which);
  // What is held must be confirmed, should another server answer now.
  bool needs_connection(const master& to) const {
    return (cluster_ == nullptr || to.has_slots.load(std::memory_order_relaxed)) &&
           timers_.is_any_armed();
  }
  std::atomic<std::uint64_t>& positions() noexcept { return positions_; }

 private:
  void on_connected(const redis::session_facts& facts) override;
  void on_push(resp::value& message, std::uint64_t position) override;
  void on_broken() override;
  bool needs_connection() override { return needs_connection(only_); }
  void on_not_connected() override;
  bool on_error(redis::request& r, std::string& error) override;
  void wait_until_quiet() noexcept;
  void doubt_if_other_server(master& to, const redis::session_facts& facts);
  redis::slot_set slots_of(const master& known) const;
  void ask_for_what_was_missed(const redis::slot_set& of);

  const client_options options_;
  const key_space space_;
  const std::uint64_t generation_;
  const client_id id_;
  const siphash_key proofs_;
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> seed_;
  std::unique_ptr<std::atomic<substrate::token_major>[]> floors_;

  std::atomic<monotonic_time::rep> quarantine_ends_{0};
  std::atomic<std::size_t> under_way_{0};
  std::mutex quiet_guard_;
  std::condition_variable quiet_;

  net::background_thread helper_;
  // Attempts that were left in what comes below end with it, and locks with them, which strike
  // themselves off these two.
  runtime::timers timers_{helper_};
  runtime::local_locks locals_;
  std::atomic<std::uint64_t> positions_{0};
  master only_;  // of a cluster: its entry
  const std::unique_ptr<cluster> cluster_;
  runtime::renewals renewals_;
  held_index held_;
  registration registration_;
  callback_thread callbacks_;
  waiting_room waiting_;
  runtime::channels channels_;
  observed_keys observed_;
  runtime::key_watchers key_watchers_;
  const std::unique_ptr<deadlock_watch> deadlocks_;
  std::atomic<bool> hears_;
};

}  // namespace holdfast::runtime
