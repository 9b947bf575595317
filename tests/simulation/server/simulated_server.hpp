// A small Redis in memory, on a clock that stands still until it is told to advance. It runs
// Holdfast's real scripts and answers in RESP3.
//
// Thread safety: one thread at a time, and always the same one, whose Lua interpreter it uses.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "resp/value.hpp"
#include "resp/writer.hpp"
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
  std::size_t elements() const { return keys_.elements(); }
  // As SCRIPT LOAD, of a script whose hash is known.
  void know(const resp::script& one);

  // What was published to it since the last call.
  std::vector<resp::value> take_pushes(int connection);
  // Connections to which something was published since the last call.
  std::vector<int> take_told() { return std::exchange(told_, {}); }

  std::chrono::microseconds now() const noexcept { return now_; }
  void advance(std::chrono::microseconds by) noexcept { now_ += by; }
  // The wall clock is set. What expires does so at a wall time: a step moves it too.
  void step_clock(std::chrono::microseconds by) noexcept { now_ += by; }

  void restart_empty();  // forgets keys and scripts, and closes every connection
  void flush_all() { keys_.clear(); }

 private:
  struct client {
    std::set<std::string, std::less<>> channels;
    std::vector<resp::value> pushes;
  };

  client& client_of(int connection);
  resp::value run(int connection, words command);
  resp::value run_on_keys(words command, bool resp3);
  resp::value evaluate(words command);
  resp::value script(words command);
  resp::value load(std::string_view text);
  resp::value publish(std::string_view channel, std::string_view payload);
  resp::value listeners(std::string_view channel) const;
  resp::value subscribe(client& who, words channels);

  keyspace keys_;
  std::map<int, client> clients_;
  std::set<std::string, std::less<>> scripts_;
  std::vector<std::string_view> command_;
  std::vector<int> told_;
  std::chrono::microseconds now_;
  int last_connection_ = 0;
};

}  // namespace holdfast::simulation
