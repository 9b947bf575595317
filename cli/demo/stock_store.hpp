// The application's own Redis client: the shop's stock and orders, by plain hiredis.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/connection.hpp"
#include "cli/demo/story.hpp"
#include "cli/raw_connection.hpp"

namespace holdfast::cli::demo {

std::int64_t now_us();  // CLOCK_MONOTONIC
void pause_for(int milliseconds);

// One connection that the threads of a process share. Throws `failure{errc::unavailable}` or
// `server_error` when the server cannot be asked.
class stock_store {
 public:
  // `id`: of the demo; part of all its keys.
  stock_store(const connection_options& server, const std::string& id);

  std::int64_t stock();
  void open(std::int64_t units);  // a new sale: nothing else is there
  void write(std::int64_t left, std::int64_t units);
  // Writes only when `token` is not below the largest seen; false when it is refused.
  bool write_fenced(std::int64_t left, std::int64_t units, std::uint64_t token);

  // The classic mistake: the key expires, and whoever comes last deletes whatever is there.
  bool set_if_absent(const std::string& owner, int ttl_ms);
  std::optional<std::string> delete_lock();  // the owner that was deleted
  std::optional<std::string> holder();

  void order_freeze();
  bool take_freeze();  // true for one holder
  void count(const std::string& what);
  std::int64_t counted(const std::string& what);

  std::int64_t recorded();
  std::vector<order> orders();
  // Also what Holdfast keeps for the lock: nobody may use it any more.
  void remove_all();

 private:
  raw_connection::reply ask(const std::vector<std::string>& words);
  std::string key(const std::string& name) const { return "demo:{" + id_ + "}:" + name; }

  std::string id_;
  std::mutex mutex_;
  raw_connection connection_;
};

}  // namespace holdfast::cli::demo
