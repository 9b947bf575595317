// One server, or one topology, that is looked at in the background.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/inspector.hpp>
#include <holdfast/result.hpp>

#include "cli/serve/history.hpp"
#include "cli/serve/look.hpp"
#include "cli/serve/workers.hpp"

namespace holdfast::cli {

struct look_options {
  std::string pattern = "*";  // over names
  std::chrono::milliseconds refresh{2'000};
  std::size_t most_locks = 10'000;
  std::chrono::milliseconds longest_call{4'000};  // of the server, before it counts as silent
  bool all_dialects = false;
  std::optional<std::chrono::milliseconds> doctor_every{};  // none: it writes, so it is not run
};

struct diagnosis {
  std::vector<finding> findings;
  std::chrono::milliseconds done_at{};  // boot_time()
};

// Thread safety: all members may be called from any number of threads. None of them asks the
// server: so none waits for it.
class watched_server {
 public:
  watched_server(std::string name, client redis, const look_options& options);
  ~watched_server();
  watched_server(const watched_server&) = delete;
  watched_server& operator=(const watched_server&) = delete;

  const std::string& name() const noexcept { return name_; }
  const std::string& address() const noexcept { return address_; }
  bool has_doctor() const noexcept { return options_.doctor_every.has_value(); }

  struct report {
    bool up = false;                     // the last attempt was a success
    std::string error{};                 // why it was none
    std::shared_ptr<const look> last{};  // the last success; null at first
    std::shared_ptr<const diagnosis> health{};
    std::chrono::milliseconds beat{};  // boot_time() of the last sign of life of the looking thread
  };
  report now() const;
  std::vector<lock_event> events(const std::string& name) const;

  // Whether a lock of this name may be shown.
  bool shows(const std::string& name) const;
  // As the last look saw it; none of our own locks.
  std::optional<lock_status> seen_of_another_library(const std::string& name) const;

  // So long after its last sign of life the looking thread is stuck. It shows life before each
  // server of a cluster.
  std::chrono::milliseconds stuck_after() const noexcept;

  // Whether the last success is young enough.
  bool is_fresh(const report& what) const;

  // Looks at one lock, and gives the result to `then` on another thread. False when too many such
  // questions are waiting.
  bool ask(const std::string& lock, std::function<void(result<lock_status>)> then);

 private:
  void look_again_and_again(const std::stop_token& stop);
  void diagnose_again_and_again(const std::stop_token& stop);
  std::shared_ptr<const look> look_once(const std::stop_token& stop);
  void rest(std::chrono::milliseconds time, const std::stop_token& stop);
  void pause(std::chrono::milliseconds time, const std::stop_token& stop);
  void show_life();

  const std::string name_;
  const inspector inspector_;
  const std::string address_;
  const look_options options_;
  mutable std::mutex mutex_;
  std::condition_variable_any never_;
  report report_;
  history history_;
  // Of the looking thread alone.
  client_listing clients_;
  std::optional<std::chrono::milliseconds> clients_at_;
  workers questions_;
  std::jthread looking_;
  std::jthread doctor_;
};

}  // namespace holdfast::cli
