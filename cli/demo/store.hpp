// The application's own Redis client, by plain hiredis, and its keys.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/connection.hpp"
#include "cli/raw_connection.hpp"

namespace holdfast::cli::demo {

std::int64_t now_us();  // CLOCK_MONOTONIC, which all processes of the machine share
void pause_for(int milliseconds);
constexpr int work_ms = 1;  // between looking and writing

// One connection that the threads of a process share. Throws `failure{errc::unavailable}` or
// `server_error` when the server cannot be asked.
class store {
 public:
  // `id`: of the demo; part of all its keys.
  store(const connection_options& server, std::string id);

  std::string key(const std::string& name) const {
    return of_tenant_ + "demo:{" + id_ + "}:" + name;
  }
  // Of a lock or an election; without a name of the only one.
  std::string lock_name(const std::string& name = {}) const;

  raw_connection::reply ask(const std::vector<std::string>& words);
  std::int64_t number(const std::vector<std::string>& words);  // zero: not there
  std::optional<std::string> text(const std::vector<std::string>& words);
  std::vector<std::string> list(const std::vector<std::string>& words);

  // Runs this Lua unless a larger token was seen before: then false. Its own keys begin with
  // KEYS[2], what it is given with ARGV[2].
  bool eval_fenced(const std::string& script, const std::vector<std::string>& names,
                   std::uint64_t token, const std::vector<std::string>& arguments);

  void order_freeze() { ask({"SET", key("freeze"), "1"}); }
  bool take_freeze() { return number({"DEL", key("freeze")}) == 1; }  // true for one
  // Stops this thread's process if that was ordered, as paging, a suspended machine or a garbage
  // collector does.
  void freeze_if_ordered();

  // Also what Holdfast keeps for these locks: nobody may use them any more.
  void remove(const std::vector<std::string>& names, const std::vector<std::string>& locks);

 private:
  std::string id_;
  std::string of_locks_;   // before their names in braces
  std::string of_tenant_;  // the same for a tenant, else nothing
  std::mutex mutex_;
  raw_connection connection_;
};

}  // namespace holdfast::cli::demo
