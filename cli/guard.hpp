// Watches over a command that runs under a lock.
#pragma once

#include <chrono>
#include <stop_token>

#include <holdfast/lease.hpp>

#include "cli/bell.hpp"
#include "cli/child_process.hpp"
#include "cli/command.hpp"
#include "cli/run_options.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"

namespace holdfast::cli {

// Wakes a guard. The program makes it before it starts the command: the constructor throws
// `std::system_error` when there are no descriptors left, and a command without a guard would run
// on without the lock.
struct alarms {
  alarms();
  bell lost;              // rung when the lease is lost
  descriptor kill_timer;  // runs while the command is terminated
  descriptor end_timer;   // runs while the command may still run (--at-most-for)
};

// Why we end a command, if we do.
enum class ending : std::uint8_t { none, too_long, lost };

// Passes signals on, and ends the command's whole group before the lease can end. It sends SIGTERM
// when no more than the grace is left, but at least a twentieth and at most a third of the lease: a
// lease that is renewed never gets that short. It sends SIGKILL after the grace, or after nine
// tenths of the time that was then left. A lease that turns out to be lost: SIGTERM at once,
// SIGKILL after the grace. It does the same when --at-most-for is over, and renews the lease until
// the whole group has ended.
class guard {
 public:
  guard(const lease& held, child_process& command, alarms& wakes, terminal& tty,
        const run_options& options, const context& shared);

  // Returns when the command has ended; of a group that is terminated, when all of it has.
  void watch(signal_watch& signals);

  // Why the group was terminated, if it was: `lost` also when the lease was about to be.
  ending why_ended() const noexcept { return ending_; }

  // True when somebody has asked us to end, by a signal. It was passed on.
  bool interrupted() const noexcept { return interrupted_; }

 private:
  void wait_for_events(int signals);
  int next_look_ms() const;
  void obey(int signal);
  void pass_on(int signal);
  void command_stopped();
  void resume();
  void check_lease();
  void lease_ends(std::chrono::milliseconds left);
  void time_is_over();
  bool terminate(ending why, std::chrono::milliseconds patience);
  void kill_group();
  void report_what_is_left();
  bool done() const;

  const lease& held_;
  child_process& command_;
  alarms& alarms_;
  terminal& terminal_;
  const run_options& options_;
  const context& shared_;
  const std::stop_token lost_;
  const std::chrono::milliseconds early_;
  ending ending_ = ending::none;
  bool left_told_ = false;  // that the rest of the group cannot be ended
  bool warned_ = false;
  bool interrupted_ = false;
  bool stop_requested_ = false;  // SIGTSTP was sent to us, and passed on
};

}  // namespace holdfast::cli
