// The masters of a Redis Cluster and their hash slots.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"
#include "redis/connection/slot_map.hpp"
#include "redis/locks/master.hpp"

namespace holdfast::redis_locks {

class redis_engine;

// A connection to each master, made when it is first needed, and closed when the master has had no
// slots, and been silent, for some time. Until a node has told the masters of the slots, the entry
// counts as the master of all. Any node of the URL may be the entry; it redirects requests for
// slots of others.
//
// Each MOVED corrects that. The client asks for all slots again (CLUSTER SLOTS) when a node is
// reached, lost or cannot be reached, and when a node knows no master for a slot.
//
// Thread safety: all members from any thread, unless said otherwise.
class cluster final {
 public:
  // `settings`: how each master is reached, but for where it is.
  cluster(redis_engine& owner, master& entry, redis::session_settings settings,
          redis::connection_tuning tuning, net::background_thread& helper);
  ~cluster();

  master& of(std::uint16_t slot) noexcept {
    return *slots_[slot % hash_slots].load(std::memory_order_acquire);
  }

  // Which slots it has.
  slot_set slots_of(const master& known) const;

  // Those that have slots, each once.
  std::vector<master*> masters() const;

  // The slots of each master, as far as nodes have said: not all slots, if some have no master.
  struct share {
    std::string where;
    std::uint16_t a_slot = 0;
    std::size_t slots = 0;
  };
  std::vector<share> shares() HOLDFAST_EXCLUDES(mutex_);

  // Asks the nodes for their slots: one that knows is enough. Not more often than is useful.
  void refresh() HOLDFAST_EXCLUDES(mutex_);

  // Asks the replicas of the master at a place, for client_options::min_replicas; null: no
  // descriptor is left for a connection to it.
  replication* replication_at(const net::tcp_endpoint& where) HOLDFAST_EXCLUDES(mutex_);

  // News of the connection to one of them; see redis::connection::observer.
  void on_connected(master& to, const redis::session_facts& facts) HOLDFAST_EXCLUDES(mutex_);
  bool on_error(const master& of, redis::request& r, std::string& error) HOLDFAST_EXCLUDES(mutex_);

  // After the background thread has stopped.
  void shut_down();

 private:
  class member;
  class slots_query;

  // False: the node that says this knows of no master, as one that has left the cluster; it is not
  // believed.
  bool adopt(const std::vector<redis::slot_range>& ranges) HOLDFAST_EXCLUDES(mutex_);
  slot_set served() HOLDFAST_EXCLUDES(mutex_);
  // Made if it is not known yet; null: no descriptor is left for its connection.
  master* at(const net::tcp_endpoint& where) HOLDFAST_REQUIRES(mutex_);
  master* find(const net::tcp_endpoint& where) HOLDFAST_REQUIRES(mutex_);
  net::tcp_endpoint place_of(const master& known) HOLDFAST_EXCLUDES(mutex_);
  std::vector<master*> all() HOLDFAST_EXCLUDES(mutex_);
  // Those of the URL that are not among them: they are from now on.
  std::vector<master*> new_from_url() HOLDFAST_EXCLUDES(mutex_);

  redis_engine& engine_;
  master& entry_;
  const redis::session_settings settings_;
  const redis::connection_tuning tuning_;
  net::background_thread& helper_;
  std::array<std::atomic<master*>, hash_slots> slots_;
  const std::unique_ptr<slots_query> query_;

  mutex mutex_;
  slot_set served_ HOLDFAST_GUARDED_BY(mutex_);  // had a master when last told
  // Where the entry was let in; without a port while that is not known. One of the members may be
  // there too: then that one has the slots.
  net::tcp_endpoint entry_at_ HOLDFAST_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<member>> members_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::redis_locks
