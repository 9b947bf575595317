// Everything of a client but its handle: connection, threads, timers, identity, clock, renewals.
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

#include "base/request_id.hpp"
#include "dialects/recipe.hpp"
#include "lease/server_clock.hpp"
#include "net/background_thread.hpp"
#include "redis/connection.hpp"
#include "runtime/callback_thread.hpp"
#include "runtime/lock_sites.hpp"
#include "runtime/observed_keys.hpp"
#include "runtime/registration.hpp"
#include "runtime/renewals.hpp"
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
  bool is_own_thread() const noexcept;

  // False in the child of a fork: nothing here may be touched then.
  bool is_in_its_process() const noexcept;

  redis::connection& connection() noexcept { return connection_; }
  runtime::timers& timers() noexcept { return timers_; }
  runtime::renewals& renewals() noexcept { return renewals_; }
  callback_thread& callbacks() noexcept { return callbacks_; }
  waiting_room& waiting() noexcept { return waiting_; }
  lock_sites& sites() noexcept { return sites_; }
  observed_keys& observed() noexcept { return observed_; }
  const client_options& options() const noexcept { return options_; }

  // Our place in the client registry; kept fresh while locks are used.
  void register_client() { registration_.refresh(); }

  // `revocable`: others may ask to have the lock back.
  request_id next_request(bool revocable = false) noexcept;
  std::uint64_t next_seed() noexcept;

  // Whether the server can tell us that a lock was handed to us. Supposed before we know.
  bool hears() const noexcept { return hears_.load(std::memory_order_relaxed); }

  server_time estimate(monotonic_time at) const;
  std::optional<monotonic_time> earliest(server_time then) const;
  nanoseconds clock_distance() const;  // the server's clock minus the wall clock here
  void learn_time(monotonic_time sent_at, monotonic_time received_at, server_time said);

  // The largest major that this client knows for a hash slot.
  dialects::token_major floor(std::uint16_t slot) const noexcept;
  void raise_floor(std::uint16_t slot, dialects::token_major seen) noexcept;

  // Counts what must not be cut off when the client is closed: attempts and releases under way.
  void began() noexcept { under_way_.fetch_add(1, std::memory_order_relaxed); }
  void ended() noexcept;

 private:
  void on_connected(const redis::session_facts& facts) override;
  void on_push(resp::value& message, std::uint64_t position) override;
  void on_broken() override;
  void wait_until_quiet() noexcept;

  const client_options options_;
  const std::uint64_t generation_;
  const client_id id_;
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> seed_;
  std::unique_ptr<std::atomic<dialects::token_major>[]> floors_;

  mutable std::mutex clock_guard_;
  leasing::server_clock clock_;  // guarded by clock_guard_

  std::atomic<std::size_t> under_way_{0};
  std::mutex quiet_guard_;
  std::condition_variable quiet_;

  net::background_thread helper_;
  redis::connection connection_;
  runtime::timers timers_;
  runtime::renewals renewals_;
  registration registration_;
  callback_thread callbacks_;
  waiting_room waiting_;
  lock_sites sites_;
  observed_keys observed_;
  std::atomic<bool> hears_;
};

}  // namespace holdfast::runtime
