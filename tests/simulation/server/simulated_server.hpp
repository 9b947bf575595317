// A small Redis in memory, on a clock that stands still until it is told to advance. It runs
// Holdfast's real scripts and answers in RESP3.
//
// Thread safety: one thread at a time, and always the same one, whose Lua interpreter it uses.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/resp/value.hpp"
#include "redis/resp/writer.hpp"
#include "simulation/server/keyspace.hpp"

namespace holdfast::simulation {

class simulated_server {
 public:
  explicit simulated_server(std::chrono::microseconds wall_time = std::chrono::hours{24} * 365 *
                                                                  50) noexcept
      : now_(wall_time) {}

  int connect();
  void disconnect(int connection);

  // Runs one command, in the bytes that resp::writer writes. Throws std::logic_error when they are
  // no whole command, or the connection is closed.
  resp::value execute(int connection, std::string_view bytes);
  // Runs one command for nobody: to see what it has.
  resp::value look(words command) { return run_on_keys(command, true); }
  // The same of a sorted set, without a copy; null: there is none.
  const keyspace::sorted_set* look_at_sorted_set(std::string_view key) {
    return keys_.sorted_set_at(key, now_);
  }
  std::vector<std::string> lasting_keys() const { return keys_.lasting_keys(); }
  std::vector<std::string> ending_keys() const { return keys_.ending_keys(); }
  void evict(std::string_view key) { keys_.evict(key); }
  void set_page(std::size_t elements) noexcept { keys_.set_page(elements); }
  std::size_t elements() const { return keys_.elements(); }
  // As SCRIPT LOAD, of a script whose hash is known.
  void know(const resp::script& one);

  // From now on it is a node of a cluster: scripts run in the form that nodes are sent. `shards`:
  // it knows channels of a hash slot, as servers do since Redis 7.
  void join_a_cluster(bool shards) noexcept {
    is_in_cluster_ = true;
    has_shards_ = shards;
  }
  bool has_shards() const noexcept { return has_shards_; }

  // The messages published to it since the last call.
  std::vector<resp::value> take_pushes(int connection);
  // Connections to which something was published since the last call.
  std::vector<int> take_told() { return std::exchange(told_, {}); }

  std::chrono::microseconds now() const noexcept { return now_; }
  void advance(std::chrono::microseconds by) noexcept { now_ += by; }
  // The wall clock is set. Keys expire at a wall time: a step moves that, too.
  void step_clock(std::chrono::microseconds by) noexcept { now_ += by; }

  // From now on what writes is answered with this error, as by a server that is short of memory
  // (then only what may need more), has become a replica, or has none. Empty: no more. A script
  // that has written something goes on, as in Redis.
  void refuse_writes(std::string error, bool only_what_grows = false) {
    refusal_ = std::move(error);
    refuses_only_growth_ = only_what_grows;
  }
  // The data of a replica that has heard all up to now; and its knowledge when it takes over.
  keyspace copy_of_keys() const { return keys_; }
  void fail_over(keyspace copy);

  // ---- a demoted master (simulated_replica.cpp)
  // A replica takes over with these keys, and the old master becomes its replica. Connections stay
  // at the old one, which answers what only reads, refuses what writes, and repeats to those who
  // listen there what its new master publishes.
  void be_succeeded(keyspace copy);
  // To the replica, as by a name that still leads there.
  int connect_to_replica();
  bool has_replica() const noexcept { return replica_.has_value(); }
  // The replica hears all that the master has done until now, and what was published to its
  // listeners: to whom, and what.
  std::vector<std::pair<int, resp::value>> let_replica_catch_up();
  // It is gone, and so are the connections to it.
  void drop_replica();

  void restart_empty();  // forgets keys and scripts, and closes every connection
  void flush_all() { keys_.clear(); }

 private:
  struct client {
    std::set<std::string, std::less<>> channels{};
    std::vector<resp::value> pushes{};
    bool is_at_replica = false;
  };
  struct replica {
    keyspace keys;  // as it has heard of them
    std::vector<std::pair<int, resp::value>> repeats{};
  };

  client& client_of(int connection);
  resp::value run(int connection, words command);
  resp::value run_on_keys(words command, bool resp3);
  resp::value evaluate(words command);
  resp::value script(words command);
  resp::value load(std::string_view text);
  // `kind`: "message" or, on a channel of a hash slot, "smessage".
  resp::value publish(std::string_view kind, std::string_view channel, std::string_view payload);
  resp::value listeners(std::string_view channel) const;
  resp::value subscribe(std::string_view kind, client& who, words channels);

  // An error, or null.
  resp::value refusal_of(std::string_view command);
  void repeat(const std::string& name, const resp::value& push);

  keyspace keys_;
  std::string refusal_;
  bool refuses_only_growth_ = false;
  bool has_written_ = false;  // the script that runs
  std::optional<replica> replica_;
  bool runs_at_replica_ = false;  // the command that runs
  std::map<int, client> clients_;
  std::set<std::string, std::less<>> scripts_;
  std::map<std::string, std::string, std::less<>> forms_;  // SHA-1 -> that of the one for clusters
  bool is_in_cluster_ = false, has_shards_ = false;
  std::vector<std::string_view> command_;
  std::vector<int> told_;
  std::chrono::microseconds now_;
  int last_connection_ = 0;
};

}  // namespace holdfast::simulation
