#include "cli/guarded_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include <holdfast/all_of.hpp>

#include "cli/guard.hpp"
#include "cli/held_locks.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

// Words and built-in commands that only a shell knows.
bool is_for_a_shell(const std::string& program) {
  constexpr std::array builtins = {"cd",   "export", "source", "alias", "ulimit", "umask", "set",
                                   "eval", "exec",   "unset",  "wait",  "if",     "for",   "while",
                                   "case", "trap",   "type",   "[[",    ".",      ":",     "!"};
  return program.find_first_of(" \t\n|&;<>()$`\"'*?=~{") != std::string::npos ||
         std::ranges::find(builtins, program) != builtins.end();
}

std::string advice(const std::vector<std::string>& command) {
  const auto& program = command.front();
  if (is_for_a_shell(program)) {
    return fmt::format("; no shell reads the command, unless you run one: -- sh -c '{}'",
                       fmt::join(command, " "));
  }
  const bool is_there =
      program.find('/') != std::string::npos && ::access(program.c_str(), F_OK) == 0;
  return is_there ? "; it is there, but not the interpreter that its first line names" : "";
}

int report_execution(const context& shared, const std::system_error& error,
                     const std::vector<std::string>& command) {
  const bool missing = error.code() == std::errc::no_such_file_or_directory ||
                       error.code() == std::errc::not_a_directory;
  report_error(shared.json, missing ? "command_not_found" : "cannot_execute",
               fmt::format("cannot run '{}': {}{}", command.front(), error.code().message(),
                           missing ? advice(command) : ""));
  return missing ? command_not_found : cannot_execute;
}

// Ctrl-C in a terminal that the command had would have reached our own group, too: a script that
// runs us must see it.
void pass_on_interrupt(const child_process& command, bool had_terminal) {
  const auto signal = command.killed_by();
  const bool typed = signal == SIGINT || signal == SIGQUIT;
  if (had_terminal && typed && ::getpgrp() != ::getpid()) ::kill(0, *signal);
}

// The command's environment: describes the lock, or all locks, under which it runs.
std::vector<std::string> environment(const lease& held, const std::vector<grant_mark>& grants,
                                     const run_options& options) {
  std::string tokens;
  for (const auto& part : parts(held)) {
    tokens += fmt::format("{}{}={}", tokens.empty() ? "" : ",", unambiguous(part.name),
                          part.token.to_string());
  }
  return {"HOLDFAST_NAME=" + options.name, "HOLDFAST_TOKEN=" + held.token().to_string(),
          "HOLDFAST_TOKENS=" + tokens, held_variable(grants)};
}

// Over a connection that was forgotten on the way no answer came, but the library asks again at
// once: it may have given the lock back by now, and then there is nothing to warn of.
bool is_given_back(const std::vector<grant_mark>& grants, const run_setting& setting) {
  constexpr int pause_ms = 50;
  const auto looks = setting.shared.connection.response_timeout.count() / pause_ms + 1;
  for (int look = 0; look < looks; ++look) {
    switch (look_at(grants, setting.view)) {
      case grants_at_server::gone:
        return true;
      case grants_at_server::unknown:
        return false;
      case grants_at_server::held:
        ::poll(nullptr, 0, pause_ms);
    }
  }
  return false;
}

// The exit code after the command has ended, by itself or since its time was over.
int give_back(lease& held, int exit_code, const std::vector<grant_mark>& grants,
              const run_setting& setting) {
  const auto& options = setting.options;
  const auto& shared = setting.shared;
  const auto released =
      setting.give_back(held, exit_code == 0 ? run_end::succeeded : run_end::failed);
  if (released) return exit_code;
  if (released.error().reason() == errc::lost) {
    note(shared, "lost", fmt::format("the lock '{}' was lost while the command ran", options.name));
    return options.warn_only ? exit_code : lost_while_running;
  }
  if (!is_given_back(grants, setting)) {
    note(shared, holdfast::name_of(released.error().reason()),
         fmt::format("the command is done, but the lock '{}' could not be released and may be held "
                     "until its lease ends: {}",
                     options.name, released.error().what()));
  }
  return exit_code;
}

// Sets `begun` once the command is started.
guarded_outcome run_under(lease& held, const run_setting& setting, bool& begun) {
  const auto& options = setting.options;
  terminal tty;
  const bool takes_terminal = tty.wanted_at_start();
  alarms wakes;
  const auto grants = marks_of(held, setting.view);
  if (!options.note.empty()) held.set_note(options.note);
  setting.begins(held);
  child_process command{{options.command, environment(held, grants, options),
                         setting.signals.mask_before(), takes_terminal, options.passes_secrets}};
  begun = true;
  if (takes_terminal) tty.give(command.group());
  guard watcher(held, command, wakes, tty, options, setting.shared);
  watcher.watch(setting.signals);
  pass_on_interrupt(command, takes_terminal);
  if (watcher.why_ended() == ending::lost) {
    return {lost_while_running, true, watcher.interrupted()};
  }
  const int code = watcher.why_ended() == ending::too_long ? ran_too_long : command.exit_code();
  return {give_back(held, code, grants, setting), false, watcher.interrupted()};
}

}  // namespace

void add_process_options(CLI::App& command, run_options& options) {
  command
      .add_option_function<std::string>(
          "--signal",
          [&options](const std::string& whom) { options.signals_command_only = whom == "command"; },
          "The receiver of the signals that are sent to holdfast: the command alone, or its whole "
          "process group. A lost lock ends the whole group in any case")
      ->check(CLI::IsMember({"command", "group"}))
      ->type_name("WHOM")
      ->default_str("group");
  command
      .add_option(
          "--note", options.note,
          "What the lock is held for (a job's id, a trace's id): `holdfast status` shows it")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return std::string(text.size() > 256 ? "a note has at most 256 bytes" : "");
          },
          "", "at most 256 bytes"))
      ->type_name("TEXT");
  command
      .add_option("--audit", options.audit,
                  "Keep an audit trail of the locks whose names match, for `holdfast audit` "
                  "[HOLDFAST_AUDIT, else none]")
      ->type_name("PATTERN");
  command.add_flag("--pass-passwords", options.passes_secrets,
                   "Leave HOLDFAST_PASSWORD, HOLDFAST_PASSWORD_COMMAND, HOLDFAST_SENTINEL_PASSWORD "
                   "and a HOLDFAST_URL with a password in the command's environment");
}

guarded_outcome run_guarded(lease& held, const run_setting& setting) {
  bool begun = false;
  try {
    return run_under(held, setting, begun);
  } catch (const std::exception& error) {
    if (!begun) (void)setting.give_back(held, run_end::not_started);
    const auto* const why = dynamic_cast<const std::system_error*>(&error);
    if (why == nullptr || why->code().category() != std::generic_category()) throw;
    return {report_execution(setting.shared, *why, setting.options.command)};
  }
}

}  // namespace holdfast::cli
