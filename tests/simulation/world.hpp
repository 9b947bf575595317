// Virtual time, the server, and what happens to all clients at once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/lock_key.hpp"
#include "simulation/dice.hpp"
#include "simulation/event_queue.hpp"
#include "simulation/intrusion.hpp"
#include "simulation/promises.hpp"
#include "simulation/server/simulated_server.hpp"
#include "simulation/simulation.hpp"

namespace holdfast::simulation {

class client;

inline constexpr monotonic_time begin_of_time{std::chrono::hours{1}};

class world {
 public:
  explicit world(const scenario& what);
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  outcome run();

  monotonic_time now() const noexcept { return now_; }
  bool faults() const noexcept { return now_ < faults_end_; }
  dice& chance() noexcept { return dice_; }
  // Draws from this do not change draws from the other.
  dice& other_chance() noexcept { return other_dice_; }
  // In so many of a hundred cases whoever has the lock needs it for a moment only.
  std::uint64_t short_uses() const noexcept { return short_uses_; }
  bool is_harsh() const noexcept { return scenario_.faults && scenario_.harsh; }
  nanoseconds longest_use() const noexcept;
  nanoseconds longest_freeze() const noexcept;
  bool varies() const noexcept { return scenario_.varies; }
  std::int64_t most_drift() const noexcept { return scenario_.drift; }
  const kind& of() const noexcept { return kind_; }
  const lock_key& key() const noexcept { return key_; }
  promises& check() {
    synchronize();
    return promises_;
  }
  bool is_refusing() const noexcept { return now_ < refusing_until_; }
  simulated_server& server() noexcept { return server_; }

  void at(monotonic_time when, std::function<void()> what);
  void count(fault what) { ++result_.faults[static_cast<std::size_t>(what)]; }
  void note(std::uint64_t what) { result_.trace = (result_.trace ^ what) * 0x100000001b3; }

  // A connection to the server, which knows all scripts.
  // A waiter may have become one that need not be waited for, or the other way round.
  void reconsider() { promises_.reconsider(now_); }
  int connect();
  // Perhaps to a master of before, which is a replica now; true: it is.
  std::pair<int, bool> connect_by_name();
  // The role that the server names. A replica was the master before.
  std::uint64_t identity(bool of_the_replica) const noexcept {
    return of_the_replica ? masters_ - 1 : masters_;
  }
  resp::value execute(int connection, const std::string& bytes);
  void believes(const client& who, const belief& what, bool by_message);
  // Whether what was said then was said of another lock.
  bool has_misled_at(monotonic_time then) const noexcept { return misled_at_ == then; }
  void refused_for_length() { ++result_.queue_full; }
  void kept() { ++result_.kept; }
  void asked_for() { ++result_.asked_for; }
  void lost() { ++result_.losses; }
  // For the history, where one is wanted; of one client, or of the server.
  void tell(history::event what);
  void tell_emptied();

 private:
  promises::insight insight();
  void plan_faults();
  void plan_harsh_faults();
  void empty_the_server();
  void set_the_clock();
  void operate();
  void meddle();
  // Perhaps when the lease ends that ends next, which is waited for so many times.
  void intrude(std::uint64_t patience);
  void execute_for_a_stranger(const std::string& bytes, bool enters, const intrusion& by);
  void trouble_a_link();
  void refuse_writes();
  void freeze_the_first();
  void freeze_a_row();
  void look_behind_the_row();
  void damage_the_counter();
  void mend_the_counter();
  void fail_over();
  // world_neighbour.cpp
  void plan_neighbours();
  void mislead(std::uint64_t patience);
  // world_replica.cpp
  std::uint64_t draw_successions();
  bool leaves_a_replica();
  void leave_behind(keyspace copy);
  void let_replica_catch_up();
  void drop_replica();
  void evict();
  void deliver_messages();
  void synchronize();
  bool is_over() const;
  void step();
  void finish();

  const scenario scenario_;
  const kind& kind_;
  std::uint64_t draw_clients();
  void join_a_cluster();

  const lock_key key_{"simulated"}, neighbour_{"neighbour"};
  dice dice_, other_dice_;
  monotonic_time now_ = begin_of_time;
  monotonic_time faults_end_;
  std::uint64_t short_uses_;
  bool long_times_;
  monotonic_time server_at_ = begin_of_time;
  simulated_server server_;
  monotonic_time refusing_until_ = monotonic_time::min();
  std::uint64_t strangers_ = 0, neighbours_ = 0;
  monotonic_time misled_at_ = monotonic_time::min();
  bool knows_scripts_ = false;
  std::uint64_t masters_ = 1;  // so far; each names the server that it was
  promises promises_;
  event_queue events_;
  std::vector<std::unique_ptr<client>> clients_;
  // The requests that were frozen, the one behind them, and since when none but these keep it
  // waiting.
  struct {
    std::vector<std::string> frozen{};
    std::string last{};
    monotonic_time since{};
  } row_;
  std::vector<std::string> messages_;  // of one command
  outcome result_;
};

}  // namespace holdfast::simulation
