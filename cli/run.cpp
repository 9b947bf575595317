// holdfast run NAME -- COMMAND...: runs a command under a lock.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include <holdfast/inspector.hpp>

#include "cli/commands.hpp"
#include "cli/duration.hpp"
#include "cli/guarded_command.hpp"
#include "cli/lock_choice.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "cli/waiting.hpp"

namespace holdfast::cli {
namespace {

struct locked_options : run_options {
  lock_choice lock;
};

// As the first of them tells that knows of a holder.
std::optional<lock_status> held_at_one_of(const std::vector<client>& servers,
                                          const std::string& name, const dialect& how) {
  for (const auto& each : servers) {
    try {
      auto status = inspector{each}.status(name, how);
      if (status.what == lock_status::state::held) return status;
    } catch (const failure&) {
      // Another may know more; if none does, only the message is poorer.
    }
  }
  return std::nullopt;
}

// Who has what of these locks, for the message; nothing when nobody can tell.
std::string holders_of(const std::vector<client>& servers, const lock_choice& lock) {
  // A member's mutex of that name is not the quorum's.
  if (lock.quorum.given() && lock.how == dialect{}) return {};
  std::string text;
  for (const auto& name : lock.names) {
    const auto status = held_at_one_of(servers, name, lock.how);
    if (!status) continue;
    const auto which = lock.names.size() > 1 ? fmt::format("'{}' is ", name) : std::string{};
    text += fmt::format("; {}held by {}", which, show_owner(*status));
  }
  return text;
}

int report_no_lock(const context& shared, const std::vector<client>& servers,
                   const locked_options& options, const failure& why) {
  // Here, and not by whoever catches it: the clients would go first, and that may take its time.
  if (why.reason() != errc::busy && why.reason() != errc::timed_out) {
    return report_exception(shared, why);
  }
  report_error(shared.json, name_of(why.reason()),
               fmt::format("{}{}", why.what(), holders_of(servers, options.lock)));
  return no_lock;
}

int run_command(const locked_options& options, const context& shared) {
  signal_watch signals;
  const auto servers = connect_to_servers(shared.connection, options.lock);
  const auto target = make_lock(servers, options.lock, options.lease);
  auto outcome = wait_for(target, options, signals);
  if (outcome.ended_by) return report_interruption(shared, *outcome.ended_by);
  if (!outcome.held) return report_no_lock(shared, servers, options, outcome.held.error());
  return run_guarded(*outcome.held, options, shared, signals).exit_code;
}

void add_options(CLI::App& command, locked_options& options) {
  using namespace std::chrono_literals;
  add_lock_choice(command, options.lock);
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
  add_passwords_option(command, options);
}

void take_words(locked_options& options, std::vector<std::string>& names, context& shared) {
  shared.takes_operands = true;
  take_dashed_name(names, shared.operands);
  take_names(options.lock, names);
  options.name = options.lock.label();
  options.command = shared.operands;
  if (options.command.empty()) throw CLI::RequiredError("a command after --");
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
      "The command's exit code is passed on; 75: the lock was not obtained in time, 76: it was\n"
      "lost while the command ran, 69: no server. HOLDFAST_NAME and HOLDFAST_TOKEN are set, of\n"
      "several locks the names with commas between them and the largest token; HOLDFAST_TOKENS\n"
      "is NAME=TOKEN of each.\n\n"
      "Examples:\n"
      "  holdfast run nightly -- ./backup.sh\n"
      "  holdfast run --nonblock nightly -- ./backup.sh || echo 'runs elsewhere'\n"
      "  holdfast run --wait 10s --lease 1m orders:42 -- psql -f deduct.sql\n"
      "  holdfast run --shared prices -- ./report.sh\n"
      "  holdfast run --permits 1/4 licences -- ./render.sh\n"
      "  holdfast run --all-of account:1,account:2 -- ./move.sh 10\n"
      "  holdfast run --dialect redisson nightly -- ./backup.sh\n"
      "  holdfast run --dialect redlock --member redis://a --member redis://b --member redis://c "
      "\\\n"
      "    nightly -- ./backup.sh");
  command->callback([options, names, &shared] {
    take_words(*options, *names, shared);
    shared.action = [options, &shared] {
      options->lock.quorum.replace_url(shared.connection);
      return run_command(*options, shared);
    };
  });
}

}  // namespace holdfast::cli
