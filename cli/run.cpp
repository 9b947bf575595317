// holdfast run NAME -- COMMAND...: runs a command under a lock.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/commands.hpp"
#include "cli/duration.hpp"
#include "cli/guarded_command.hpp"
#include "cli/lock_choice.hpp"
#include "cli/lock_view.hpp"
#include "cli/names.hpp"
#include "cli/once_choice.hpp"
#include "cli/output.hpp"
#include "cli/server_address.hpp"
#include "cli/waiting.hpp"

namespace holdfast::cli {
namespace {

struct locked_options : run_options {
  lock_choice lock;
  once_choice once;
};

// Behind the holders, which are the reason.
const char* what_came_of_it(errc reason) {
  return reason == errc::busy ? "; ask again later or wait for it"
                              : ": the lock was not obtained in time";
}

// Here, and not where it is caught: the clients would be destroyed first, and that may take its
// time.
int report_no_lock(const run_setting& setting, const failure& why) {
  const auto reason = why.reason();
  const bool is_held = reason == errc::busy || reason == errc::timed_out;
  const auto holders = is_held ? setting.view.look().holders : std::string{};
  if (holders.empty()) {
    report_exception(setting.shared, why);
  } else {
    report_error(setting.shared.json, holdfast::name_of(reason), holders + what_came_of_it(reason));
  }
  const int code = exit_code_for(reason);
  return code == no_lock ? setting.options.busy_exit_code : code;
}

int run_with(wait_outcome outcome, const run_setting& setting) {
  if (outcome.ended_by) {
    if (outcome.held) (void)setting.give_back(*outcome.held, run_end::not_started);
    return report_interruption(setting.shared, *outcome.ended_by);
  }
  if (!outcome.held) return report_no_lock(setting, outcome.held.error());
  return run_guarded(*outcome.held, setting).exit_code;
}

// On most machines the command has run already, and cron mails every line. So only a terminal or
// --json gets this one.
int report_has_run(const context& shared, const failure& why, int code) {
  if (shared.json || ::isatty(STDERR_FILENO) != 0) report_exception(shared, why);
  return code;
}

// The lock may be free all the same.
void say_unrecorded(const run_setting& setting, const failure& why) {
  note(setting.shared, holdfast::name_of(why.reason()),
       fmt::format("'{}': the server has not recorded how the command ended: the run counts as "
                   "lost: {}",
                   setting.options.name, why.what()));
}

int run_once(const client& redis, const locked_options& options, const run_setting& plain) {
  if (is_embedded(plain.shared.connection.url)) {
    note(plain.shared, "forgets",
         fmt::format("'{}': an embedded server forgets what has run, half a minute after its last "
                     "user has gone: use a server of its own",
                     options.name));
  }
  const auto job = make_job(redis, options.once, options.lock, options.lease);
  auto setting = plain;
  setting.give_back = [&](lease& held, run_end how) {
    auto ended = job.finish(held, how);
    if (!ended && ended.error().reason() != errc::lost) say_unrecorded(plain, ended.error());
    return ended;
  };
  auto outcome = wait_for([&](const acquire_options& how) { return job.try_begin(how); }, setting);
  if (!outcome.ended_by && !outcome.held && outcome.held.error().reason() == errc::has_run) {
    return report_has_run(setting.shared, outcome.held.error(), options.once.has_run_exit_code);
  }
  return run_with(std::move(outcome), setting);
}

int run_command(const locked_options& options, const context& shared) {
  signal_watch signals;
  const auto servers = connect_to_servers(shared.connection, options.lock);
  const lock_view view(servers, options.lock);
  const run_setting setting{options, shared, view, signals};
  if (options.once.given()) return run_once(servers.front(), options, setting);
  const auto target = make_lock(servers, options.lock, options.lease);
  return run_with(wait_for(target, setting), setting);
}

void add_options(CLI::App& command, locked_options& options) {
  using namespace std::chrono_literals;
  add_lock_choice(command, options.lock);
  auto* const wait = add_duration(command, "--wait", options.wait, "How long to wait for the lock",
                                  {0ms, 24h * 365});
  auto* const once =
      command.add_flag("--nonblock", options.nonblock, "Ask once instead of waiting");
  once->excludes(wait);
  add_wait_for_server(command, options)->excludes(once);
  command
      .add_option("--busy-exit-code", options.busy_exit_code,
                  "The exit code when the lock was not obtained in time; the command may end with "
                  "75 as well")
      ->check(CLI::Range(0, 255))
      ->type_name("N")
      ->default_str("75");
  add_duration(command, "--lease", options.lease,
               "How long the server keeps the lock without hearing from us; renewed meanwhile",
               {100ms, 24h});
  add_once_choice(command, options.once);
  add_duration(command, "--at-most-for", options.at_most_for,
               "How long the command may run; then it is ended", {1ms, 24h * 366})
      ->default_str("");
  command
      .add_option_function<std::string>(
          "--on-lost", [&options](const std::string& what) { options.warn_only = what == "warn"; },
          "When the lock is lost: terminate the command, or warn and go on")
      ->check(CLI::IsMember({"terminate", "warn"}))
      ->type_name("ACTION")
      ->default_str("terminate");
  add_duration(command, "--grace", options.grace,
               "From SIGTERM to SIGKILL when the lock is lost, or --at-most-for is over",
               {0ms, 1h});
  add_process_options(command, options);
}

void take_words(locked_options& options, std::vector<std::string>& names, context& shared) {
  shared.takes_operands = true;
  if (options.lock.of != lock_choice::kind::all_of) take_name_after_dashes(names, shared.operands);
  take_names(options.lock, names);
  options.name = options.lock.label();
  options.command = shared.operands;
  if (options.command.empty()) throw CLI::RequiredError("a command after --");
  const bool is_ours = options.lock.how == dialect{} && !options.lock.quorum.given();
  const bool has_notes = is_ours && options.lock.of != lock_choice::kind::all_of;
  if (!options.note.empty() && !has_notes) {
    throw CLI::ValidationError("--note",
                               "only one lock of Holdfast's own, on one server, can have a note");
  }
  if (!options.audit.empty() && !is_ours) {
    throw CLI::ValidationError(
        "--audit", "only Holdfast's own locks, and none of a quorum, have an audit trail");
  }
}

// Where nobody has said how long it is: a lock of another library may not have one as long as ours.
// That of ShedLock is its `lockAtMostFor`.
void choose_lease(locked_options& options) {
  if (const auto longest = options.lock.how.longest_lease()) {
    options.lease = std::min(options.lease, *longest);
  }
  if (options.lock.how.name() != "shedlock") return;
  options.lease = std::max({options.lease, options.once.rule.at_least_for, options.at_most_for});
  options.lease = std::min<std::chrono::milliseconds>(options.lease, std::chrono::hours{24});
}

}  // namespace

void add_run(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand(
      "run", "Run a command under a lock: holdfast run [OPTIONS] NAME -- COMMAND [ARGUMENT...]");
  const auto options = std::make_shared<locked_options>();
  const auto names = std::make_shared<std::vector<std::string>>();
  add_names(*command, *names, 1);
  add_options(*command, *options);
  command->footer(
      "The exit code is the command's. 75: the lock was not obtained in time (--busy-exit-code\n"
      "chooses another code). 76: it was lost while the command ran. 69: no server answers.\n"
      "79: it is not due again yet, since it has run (--has-run-exit-code chooses another).\n"
      "124: --at-most-for ended the command.\n"
      "The command gets HOLDFAST_NAME and HOLDFAST_TOKEN; for several locks these are the names\n"
      "with commas between them, and the largest token. HOLDFAST_TOKENS is NAME=TOKEN of each.\n"
      "HOLDFAST_HELD also has the locks of all commands around this one.\n"
      "No shell reads the command: for && and the like run sh -c.\n\n"
      "Examples:\n"
      "  holdfast run nightly -- ./backup.sh\n"
      "  holdfast run --nonblock nightly -- ./backup.sh || echo 'runs elsewhere'\n"
      "  holdfast run --wait 10s --lease 1m orders:42 -- psql -f deduct.sql\n"
      "  holdfast run nightly -- sh -c './dump.sh && ./upload.sh'\n"
      "  holdfast run -- \"$any_name\" -- ./backup.sh\n"
      "  holdfast run --once-per 24h@14h --at-most-for 30m nightly -- ./backup.sh\n"
      "  holdfast run --at-least-for 50s --at-most-for 10m mails -- ./send.sh\n"
      "  holdfast run --shared prices -- ./report.sh\n"
      "  holdfast run --permits 1/4 licences -- ./render.sh\n"
      "  holdfast run --all-of account:1,account:2 -- ./move.sh 10\n"
      "  holdfast run --dialect redisson nightly -- ./backup.sh\n"
      "  holdfast run --dialect redlock --member redis://a --member redis://b --member redis://c "
      "\\\n"
      "    nightly -- ./backup.sh");
  command->callback([command, options, names, &shared] {
    take_words(*options, *names, shared);
    if (command->count("--lease") == 0) choose_lease(*options);
    check_once_choice(*command, options->once, options->lock);
    shared.action = [options, &shared] {
      options->lock.quorum.replace_url(shared.connection);
      shared.connection.keep_audit(options->audit);
      return run_command(*options, shared);
    };
  });
}

}  // namespace holdfast::cli
