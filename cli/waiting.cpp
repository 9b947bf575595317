#include "cli/waiting.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "cli/bell.hpp"
#include "cli/boot_clock.hpp"
#include "cli/child_process.hpp"
#include "cli/exit_code.hpp"
#include "cli/held_locks.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

// Reads signals on a thread of its own while the main thread waits for the lock, and says at a
// terminal what it waits for.
class interruption {
 public:
  explicit interruption(const run_setting& setting)
      : setting_(setting), stop_(setting.shared.connection.stop), reader_([this] { read(); }) {}

  ~interruption() { (void)finish(); }
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  std::optional<int> finish() {
    finished_.ring();
    if (reader_.joinable()) reader_.join();
    is_finished_.store(true, std::memory_order_relaxed);
    return ended_by_;
  }

 private:
  void read() {
    pollfd polled[] = {{setting_.signals.fd(), POLLIN, 0}, {finished_.fd(), POLLIN, 0}};
    // After a second somebody at a terminal wonders; a shorter wait needs no message.
    int patience_ms = ::isatty(STDERR_FILENO) != 0 ? a_second : -1;
    while (!ended_by_) {
      const int events = ::poll(polled, 2, patience_ms);
      if (events < 0) continue;
      if (polled[1].revents != 0) return;
      if (events == 0) patience_ms = say_what_is_waited_for();
      ended_by_ = setting_.signals.next_that_ends(reap_orphans);
    }
    stop_.request_stop();
  }

  // Asks the server first; says later that it does not answer. Returns when it wants to be called
  // again, as poll() counts.
  int say_what_is_waited_for() noexcept {
    try {
      if (!asking_.valid()) {
        asking_ = std::async(std::launch::async, [this] { look(); });
        return a_second;
      }
      if (asking_.wait_for(milliseconds{0}) == std::future_status::timeout) {
        say("no answer yet from " + setting_.view.addresses());
      }
    } catch (const std::exception&) {
      // The waiting does not need it.
    }
    return -1;
  }

  // On a thread of its own: meanwhile signals are read.
  void look() const {
    const auto seen = setting_.view.look();
    const auto& what = seen.holders.empty() ? seen.unseen : seen.holders;
    if (!what.empty()) say(what);
  }

  void say(const std::string& what) const {
    const bool is_news = !stop_.stop_requested() && !is_finished_.load(std::memory_order_relaxed);
    if (is_news) note(setting_.shared, "waiting", "waiting: " + what);
  }

  static constexpr int a_second = 1000;

  const run_setting& setting_;
  std::stop_source stop_;  // by a signal
  std::atomic<bool> is_finished_{false};
  std::optional<int> ended_by_;  // the reader's until it is joined
  const bell finished_;
  std::future<void> asking_;  // the reader's until it is joined
  std::thread reader_;
};

void pause(milliseconds most, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  (void)never.wait_for(lock, stop, most, [] { return false; });
}

// A server that was never reached may be starting up, as we are. The library waits only for one
// that it knows: an address may be wrong, so a user that wants to wait must say so.
result<lease> acquire(const asking& ask, const run_setting& setting) {
  const auto& options = setting.options;
  const auto stop = setting.shared.connection.stop.get_token();
  acquire_options how{.timeout = options.wait};
  if (options.nonblock) how.timeout.reset();
  const bool for_ever = options.wait == forever;
  const auto end = for_ever ? forever : boot_time() + options.wait;
  bool told = false;
  for (;;) {
    auto held = ask(how);
    const bool is_away = !held && held.error().reason() == errc::unavailable;
    const auto left = for_ever ? forever : end - boot_time();
    if (!is_away || !options.waits_for_server || left.count() <= 0 || stop.stop_requested()) {
      return held;
    }
    if (!std::exchange(told, true)) {
      note(setting.shared, "waiting",
           fmt::format("waiting for the server: {}", held.error().what()));
    }
    pause(std::min(left, milliseconds{250}), stop);
    if (!for_ever) how.timeout = std::max(milliseconds{0}, end - boot_time());
  }
}

// Time runs out also where a server refuses everything, or stops answering after it has said that
// another holds the lock. Exit code 75 would make a script believe that another still does. So the
// last question is one that does not wait: its answer is why.
result<lease> acquire_or_say_why_not(const asking& ask, const run_setting& setting) {
  auto held = acquire(ask, setting);
  if (held || held.error().reason() != errc::timed_out) return held;
  auto last = ask({});
  if (!last && exit_code_for(last.error().reason()) == no_lock) return held;
  return last;
}

}  // namespace

CLI::Option* add_wait_for_server(CLI::App& command, run_options& options) {
  return command.add_flag("--wait-for-server", options.waits_for_server,
                          "Wait as well when no server can be reached at first, as at boot; "
                          "otherwise the program ends at once");
}

int report_interruption(const context& shared, int signal) {
  report_error(shared.json, "cancelled", fmt::format("signal {} ended the waiting", signal));
  return killed_by_signal + signal;
}

wait_outcome wait_for(const asking& ask, const run_setting& setting) {
  interruption interrupted(setting);
  const bool waits = !setting.options.nonblock && setting.options.wait.count() > 0;
  if (waits) refuse_to_wait_for_ourselves(setting.view);
  auto held = acquire_or_say_why_not(ask, setting);
  // A lock that was handed over is ours for a moment only, until it is confirmed in the background.
  // The command shall begin with a whole lease; should this fail, the guard sees it.
  if (held) (void)held->extend(setting.options.lease);
  return {std::move(held), interrupted.finish()};
}

wait_outcome wait_for(const lock& target, const run_setting& setting) {
  return wait_for([&](const acquire_options& how) { return target.try_acquire(how); }, setting);
}

}  // namespace holdfast::cli
