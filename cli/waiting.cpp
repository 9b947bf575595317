#include "cli/waiting.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <stop_token>
#include <thread>
#include <utility>

#include "cli/bell.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

// Reads signals on a thread of its own while the main thread waits for the lock.
class interruption {
 public:
  explicit interruption(signal_watch& signals) : signals_(signals), reader_([this] { read(); }) {}

  ~interruption() { (void)finish(); }
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  std::stop_token stop() const { return stop_.get_token(); }

  std::optional<int> finish() {
    finished_.ring();
    if (reader_.joinable()) reader_.join();
    return ended_by_;
  }

 private:
  void read() {
    pollfd polled[] = {{signals_.fd(), POLLIN, 0}, {finished_.fd(), POLLIN, 0}};
    while (!ended_by_) {
      if (::poll(polled, 2, -1) < 0) continue;
      if (polled[1].revents != 0) return;
      ended_by_ = signals_.next_that_ends();
    }
    stop_.request_stop();
  }

  signal_watch& signals_;
  std::stop_source stop_;
  std::optional<int> ended_by_;  // the reader's until it is joined
  const bell finished_;
  std::thread reader_;
};

}  // namespace

int report_interruption(const context& shared, int signal) {
  report_error(shared.json, "cancelled", fmt::format("signal {} ended the waiting", signal));
  return killed_by_signal + signal;
}

wait_outcome wait_for(const lock& target, const run_options& options, signal_watch& signals) {
  interruption interrupted(signals);
  acquire_options how{.timeout = options.wait};
  if (options.nonblock) how.timeout.reset();
  auto held = target.try_acquire(how, interrupted.stop());
  // A lock that was handed over is ours for a moment only, until it is confirmed in the background.
  // The command shall begin with a whole lease; should this fail, the guard sees it.
  if (held) (void)held->extend(options.lease);
  return {std::move(held), interrupted.finish()};
}

}  // namespace holdfast::cli
