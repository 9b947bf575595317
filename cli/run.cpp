// holdfast run NAME -- COMMAND...: runs a command under a lock.
#include <fmt/format.h>

#include <memory>

#include <holdfast/inspector.hpp>

#include "cli/commands.hpp"
#include "cli/duration.hpp"
#include "cli/guarded_command.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "cli/waiting.hpp"

namespace holdfast::cli {
namespace {

// Who has the lock, for the message; nothing when nobody can tell.
std::string holder_of(const client& redis, const std::string& name) {
  try {
    const auto status = inspector{redis}.status(name);
    if (status.what == lock_status::state::held) return "; held by " + show_owner(status);
  } catch (const failure&) {
    // Only the message is poorer.
  }
  return {};
}

int report_no_lock(const context& shared, const client& redis, const run_options& options,
                   const failure& why) {
  if (why.reason() != errc::busy && why.reason() != errc::timed_out) throw why;
  report_error(shared.json, name_of(why.reason()),
               fmt::format("{}{}", why.what(), holder_of(redis, options.name)));
  return no_lock;
}

int run_command(const run_options& options, const context& shared) {
  signal_watch signals;
  const auto redis = shared.connection.connect();
  const auto target = redis.mutex(options.name, {.lease = options.lease});
  auto outcome = wait_for(target, options, signals);
  if (outcome.ended_by) {
    report_error(shared.json, "cancelled",
                 fmt::format("signal {} ended the waiting", *outcome.ended_by));
    return killed_by_signal + *outcome.ended_by;
  }
  if (!outcome.held) return report_no_lock(shared, redis, options, outcome.held.error());
  return run_guarded(*outcome.held, options, shared, signals).exit_code;
}

void add_options(CLI::App& command, run_options& options) {
  using namespace std::chrono_literals;
  auto* const wait = add_duration(command, "--wait", options.wait, "How long to wait for the lock",
                                  {0ms, 24h * 365});
  command.add_flag("--nonblock", options.nonblock, "Ask once instead of waiting")->excludes(wait);
  add_duration(command, "--lease", options.lease,
               "How long the server keeps the lock without hearing from us; renewed meanwhile",
               {100ms, 24h});
  command
      .add_option_function<std::string>(
          "--on-lost", [&options](const std::string& what) { options.warn_only = what == "warn"; },
          "When the lock is lost: terminate the command, or warn and go on")
      ->check(CLI::IsMember({"terminate", "warn"}))
      ->type_name("ACTION")
      ->default_str("terminate");
  add_duration(command, "--grace", options.grace, "From SIGTERM to SIGKILL when the lock is lost",
               {0ms, 1h});
}

void take_words(run_options& options, const std::vector<std::string>& names, context& shared) {
  shared.takes_operands = true;
  options.name = all_names(names, {}, 1).front();
  options.command = shared.operands;
  if (options.command.empty()) throw CLI::RequiredError("a command after --");
}

}  // namespace

void add_run(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand(
      "run", "Run a command under a lock: holdfast run [OPTIONS] NAME -- COMMAND [ARGUMENT...]");
  const auto options = std::make_shared<run_options>();
  const auto names = std::make_shared<std::vector<std::string>>();
  add_names(*command, *names, 1);
  add_options(*command, *options);
  command->footer(
      "The command's exit code is passed on; 75: the lock was not obtained in time, 76: it was\n"
      "lost while the command ran, 69: no server. HOLDFAST_TOKEN and HOLDFAST_NAME are set.\n\n"
      "Examples:\n"
      "  holdfast run nightly -- ./backup.sh\n"
      "  holdfast run --nonblock nightly -- ./backup.sh || echo 'runs elsewhere'\n"
      "  holdfast run --wait 10s --lease 1m orders:42 -- psql -f deduct.sql");
  command->callback([options, names, &shared] {
    take_words(*options, *names, shared);
    shared.action = [options, &shared] { return run_command(*options, shared); };
  });
}

}  // namespace holdfast::cli
