// A client whose locks are at Redis or Valkey servers: connections, scripts' clocks, renewals.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include <holdfast/options.hpp>

#include "base/lock_key.hpp"
#include "base/siphash.hpp"
#include "redis/connection/connection.hpp"
#include "redis/connection/login_source.hpp"
#include "redis/locks/channels.hpp"
#include "redis/locks/cluster.hpp"
#include "redis/locks/deadlock_watch.hpp"
#include "redis/locks/held_index.hpp"
#include "redis/locks/key_watchers.hpp"
#include "redis/locks/notes.hpp"
#include "redis/locks/observed_keys.hpp"
#include "redis/locks/registration.hpp"
#include "redis/locks/renewals.hpp"
#include "redis/locks/replication.hpp"
#include "redis/locks/trail.hpp"
#include "redis/locks/waiting_room.hpp"
#include "redis/locks/words.hpp"
#include "runtime/engine.hpp"
#include "substrate/claim.hpp"

namespace holdfast::redis_locks {

// Thread safety: all members from any thread, unless said otherwise.
class redis_engine final : public runtime::engine,
                           private redis::connection::observer,
                           private redis::login_hearer {
 public:
  // `tuning` is for measurements; its `spin` is that of the options.
  redis_engine(const redis::session_settings& session, const client_options& options,
               redis::connection_tuning tuning = {});
  ~redis_engine() override;

  // Of runtime::engine.
  void shut_down() noexcept override;
  void check(const lock_spec&) const override {}
  std::shared_ptr<runtime::lock_driver> make_driver(std::shared_ptr<const lock_spec> spec,
                                                    leasing::patience patience, bool may_stop,
                                                    local_lock* local) override;
  net::event_source& source_of(std::uint16_t slot) noexcept override { return connection(slot); }
  net::event_source* home() noexcept override {
    return cluster_ == nullptr ? &only_.connection : nullptr;
  }
  void prepare_to_drive() const override { redis::connection::prepare_to_drive(); }
  void expect_revoke(const request_id& request, const std::shared_ptr<local_lock>& by) override {
    waiting_.keep(request, by);
  }
  void expect_no_revoke(const request_id& request) override { waiting_.keep_no_more(request); }
  void wake_changes_of(const runtime::lock_driver& held) override {
    waiting_.wake_changes_of(held);
  }
  runtime::wait_watch* deadlocks() noexcept override { return deadlocks_.get(); }
  runtime::grant_log* grants() noexcept override { return trail_.get(); }

  // The master that has the locks of a hash slot; in a cluster it may change at any time.
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
  redis_locks::renewals& renewals() noexcept { return renewals_; }
  held_index& held() noexcept { return held_; }
  redis_locks::notes& notes() noexcept { return notes_; }
  waiting_room& waiting() noexcept { return waiting_; }
  redis_locks::channels& channels() noexcept { return channels_; }
  redis_locks::key_watchers& key_watchers() noexcept { return key_watchers_; }
  observed_keys& observed() noexcept { return observed_; }
  // Null unless grants must be on replicas.
  replication* replicas_of(std::uint16_t slot) noexcept { return at(slot).replicas.get(); }

  // Our place in the client registry; kept fresh while locks are used.
  void register_client(milliseconds lease) { registration_.refresh(lease); }

  // The proof in a message that this request of ours was handed a lock: dialects::handed_over.
  std::uint64_t proof_of(std::uint64_t request) const noexcept { return siphash(proofs_, request); }

  // Whether the server can tell us that a lock was handed to us. Supposed before we know.
  bool hears() const noexcept { return hears_.load(std::memory_order_relaxed); }

  // The largest major that this client knows for a hash slot.
  substrate::token_major floor(std::uint16_t slot) const noexcept;
  void raise_floor(std::uint16_t slot, substrate::token_major seen) noexcept;

  // Until then no new grant may be asked for or believed: the server is not the one it was.
  monotonic_time quarantine_ends() const noexcept {
    return monotonic_time{nanoseconds{quarantine_ends_.load(std::memory_order_relaxed)}};
  }

  // News of connections, to the only server or to the nodes of a cluster.
  void on_connected(master& to, const redis::session_facts& facts);
  void on_push(const master& from, resp::value& message, std::uint64_t position);
  void on_broken(const master& from);
  void on_slots_moved(const slot_set& which);
  // Leases must be confirmed, should another server answer now.
  bool needs_connection(const master& to) {
    return (cluster_ == nullptr || to.has_slots.load(std::memory_order_relaxed)) &&
           timers().is_any_armed();
  }
  std::atomic<std::uint64_t>& positions() noexcept { return positions_; }

 private:
  void on_connected(const redis::session_facts& facts) override;
  void on_push(resp::value& message, std::uint64_t position) override;
  void on_broken() override;
  bool needs_connection() override { return needs_connection(only_); }
  void on_not_connected() override;
  bool on_error(redis::request& r, std::string& error) override;
  void on_login_failed(const std::string& server, const std::string& why) override;
  void doubt_if_other_server(master& to, const redis::session_facts& facts);
  slot_set slots_of(const master& known) const;
  void ask_for_what_was_missed(const slot_set& of);

  const siphash_key proofs_;
  std::unique_ptr<std::atomic<substrate::token_major>[]> floors_;
  std::atomic<monotonic_time::rep> quarantine_ends_{0};
  std::atomic<std::uint64_t> positions_{0};
  const std::shared_ptr<redis::login_source> logins_;  // null: the options name the login
  master only_;                                        // of a cluster: its entry
  const std::unique_ptr<cluster> cluster_;
  redis_locks::renewals renewals_;
  held_index held_;
  registration registration_;
  redis_locks::notes notes_;
  waiting_room waiting_;
  redis_locks::channels channels_;
  observed_keys observed_;
  redis_locks::key_watchers key_watchers_;
  const std::unique_ptr<deadlock_watch> deadlocks_;
  const std::unique_ptr<redis_locks::trail> trail_;  // null: no audit trail is kept
  std::atomic<bool> hears_;
};

// Of a client whose locks are there. Throws failure{unsupported} where they are kept elsewhere.
redis_engine& engine_of(runtime::client_core& core);

}  // namespace holdfast::redis_locks
