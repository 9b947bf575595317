#include "cli/guard.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "cli/duration.hpp"
#include "cli/output.hpp"
#include "cli/printable.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

constexpr const char* not_ours =
    "the command belongs to another user and cannot be ended: it goes on without the lock";

void arm(int timer, milliseconds after) {
  itimerspec when{};
  when.it_value.tv_sec = after.count() / 1000;
  when.it_value.tv_nsec = std::max<long>(after.count() % 1000 * 1'000'000, 1);  // zero disarms
  ::timerfd_settime(timer, 0, &when, nullptr);
}

// Not later than it is armed already.
void arm_at_most(int timer, milliseconds after) {
  itimerspec known{};
  ::timerfd_gettime(timer, &known);
  const auto left = std::chrono::seconds{known.it_value.tv_sec} +
                    std::chrono::nanoseconds{known.it_value.tv_nsec};
  if (left.count() == 0 || after < left) arm(timer, after);
}

bool has_rung(int timer) {
  std::uint64_t times = 0;
  return ::read(timer, &times, sizeof times) == sizeof times;
}

// BOOTTIME, like the lease: a grace does not stretch while the machine sleeps.
int new_timer() {
  const int timer = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (timer < 0) throw std::system_error(errno, std::generic_category(), "timerfd");
  return timer;
}

}  // namespace

alarms::alarms() : kill_timer(new_timer()), end_timer(new_timer()) {}

guard::guard(const lease& held, child_process& command, alarms& wakes, terminal& tty,
             const run_options& options, const context& shared)
    : held_(held),
      command_(command),
      alarms_(wakes),
      terminal_(tty),
      options_(options),
      shared_(shared),
      lost_(held.lost()),
      early_(std::clamp(options.grace, options.lease / 20, options.lease / 3)) {
  if (options.at_most_for.count() > 0) arm(alarms_.end_timer.get(), options.at_most_for);
}

void guard::watch(signal_watch& signals) {
  const std::stop_callback wake(lost_, [this] { alarms_.lost.ring(); });
  while (!done()) {
    wait_for_events(signals.fd());
    // Before the signals: a lost lease must not be followed by a SIGCONT that lets it work on.
    check_lease();
    while (const auto signal = signals.next()) obey(*signal);
  }
  terminal_.take_back();
  if (ending_ != ending::none) report_what_is_left();
}

bool guard::done() const {
  return command_.ended() && (ending_ == ending::none || !command_.group_lives());
}

void guard::wait_for_events(int signals) {
  pollfd polled[] = {{signals, POLLIN, 0},
                     {alarms_.lost.fd(), POLLIN, 0},
                     {alarms_.kill_timer.get(), POLLIN, 0},
                     {alarms_.end_timer.get(), POLLIN, 0}};
  ::poll(polled, std::size(polled), next_look_ms());
  (void)alarms_.lost.was_rung();  // it need only have ended the poll
  if (has_rung(alarms_.kill_timer.get())) kill_group();
  if (has_rung(alarms_.end_timer.get())) time_is_over();
}

int guard::next_look_ms() const {
  // Nobody tells when the last process of a group is gone.
  if (ending_ != ending::none && command_.ended()) return 10;
  if (ending_ == ending::lost) return -1;
  if (warned_) return -1;
  const auto slack = options_.warn_only ? held_.remaining() : held_.remaining() - early_;
  return static_cast<int>(std::clamp<milliseconds::rep>(slack.count() + 1, 0, 3'600'000));
}

void guard::obey(int signal) {
  switch (signal) {
    case SIGCHLD:
      if (command_.look() == child_process::change::stopped) command_stopped();
      return;
    case SIGCONT:
      return resume();
    case SIGTSTP:
      stop_requested_ = true;
      [[fallthrough]];
    default:
      interrupted_ = interrupted_ || asks_to_end(signal);
      pass_on(signal);
      // A stopped process could not end.
      if (asks_to_end(signal) || signal == SIGHUP) pass_on(SIGCONT);
  }
}

void guard::pass_on(int signal) {
  if (options_.signals_command_only) {
    command_.signal_alone(signal);
  } else {
    command_.signal_group(signal);
  }
}

// Job control: when the terminal stops the command, our parent must see that we are stopped, too.
// Nobody renews the lease then; we look at it before the command goes on.
void guard::command_stopped() {
  const int by = command_.stopped_by();
  const bool needs_terminal = by == SIGTTIN || by == SIGTTOU;
  if (needs_terminal && !terminal_.given()) terminal_.give(command_.group());
  if (needs_terminal && terminal_.given()) {
    command_.signal_group(SIGCONT);
    return;
  }
  // Without the terminal we are in the background, and so is a command that needs it: we stop until
  // we are brought to the front.
  if (!needs_terminal && !terminal_.given() && !stop_requested_) return;
  stop_requested_ = false;
  terminal_.take_back();
  ::kill(::getpid(), SIGSTOP);
}

void guard::resume() {
  check_lease();
  if (ending_ != ending::none) return;
  if (terminal_.wanted_at_start()) terminal_.give(command_.group());
  command_.signal_group(SIGCONT);
}

void guard::check_lease() {
  if (ending_ == ending::lost || warned_ || command_.has_exited()) return;
  const auto left = held_.remaining();
  if (left > (options_.warn_only ? milliseconds{0} : early_)) return;
  if (!options_.warn_only) return lease_ends(left);
  warned_ = true;
  note(shared_, "lost",
       fmt::format("the lock '{}' is lost; the command goes on without it", options_.name));
}

void guard::kill_group() {
  command_.signal_group(SIGKILL);
  report_what_is_left();
}

// Of a group that was signalled may be left what has become another user.
void guard::report_what_is_left() {
  if (left_told_ || command_.signal_group(0)) return;
  left_told_ = true;
  note(shared_, "lost", not_ours);
}

// False: the group belongs to another user.
bool guard::terminate(ending why, milliseconds patience) {
  ending_ = why;
  const bool at_once = patience <= milliseconds{0};
  const bool ours = command_.signal_group(at_once ? SIGKILL : SIGTERM);
  if (!at_once) {
    command_.signal_group(SIGCONT);  // a stopped process could not end
    arm_at_most(alarms_.kill_timer.get(), patience);
  }
  left_told_ = !ours;
  return ours;
}

void guard::lease_ends(milliseconds left) {
  const bool ours =
      terminate(ending::lost,
                left > milliseconds{0} ? std::min(options_.grace, left * 9 / 10) : options_.grace);
  const auto how = left > milliseconds{0}
                       ? fmt::format("could not be renewed and ends in {}", show_duration(left))
                       : std::string("is lost");
  note(shared_, "lost",
       fmt::format("the lock '{}' {}; {}", options_.name, how,
                   ours ? "the command is terminated" : not_ours));
}

void guard::time_is_over() {
  if (ending_ != ending::none || command_.has_exited()) return;
  const bool ours = terminate(ending::too_long, options_.grace);
  note(shared_, "too_long",
       fmt::format("'{}': the command has run for {} (--at-most-for); {}", options_.name,
                   show_duration(options_.at_most_for),
                   ours ? "it is terminated"
                        : "it belongs to another user and cannot be ended: it goes on"));
}

}  // namespace holdfast::cli
