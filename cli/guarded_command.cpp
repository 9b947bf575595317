#include "cli/guarded_command.hpp"

#include <fmt/format.h>

#include <system_error>

#include <holdfast/all_of.hpp>

#include "cli/guard.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

int report_execution(const context& shared, const std::system_error& error,
                     const std::string& program) {
  const bool missing = error.code() == std::errc::no_such_file_or_directory ||
                       error.code() == std::errc::not_a_directory;
  report_error(shared.json, missing ? "command_not_found" : "cannot_execute",
               fmt::format("cannot run '{}': {}", program, error.code().message()));
  return missing ? command_not_found : cannot_execute;
}

// Ctrl-C in a terminal that the command had would have reached our own group, too: a script that
// runs us must see it.
void pass_on_interrupt(const child_process& command, bool had_terminal) {
  const auto signal = command.killed_by();
  const bool typed = signal == SIGINT || signal == SIGQUIT;
  if (had_terminal && typed && ::getpgrp() != ::getpid()) ::kill(0, *signal);
}

// So that what is behind the last `=` up to the next comma is always the token.
std::string unambiguous(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte > 0x20 && byte != 0x7f && c != '%' && c != ',' && c != '=';
    text += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return text;
}

// What the command is told of the lock, or of all locks, under which it runs.
std::vector<std::string> environment(const lease& held, const run_options& options) {
  std::string tokens;
  for (const auto& part : parts(held)) {
    tokens += fmt::format("{}{}={}", tokens.empty() ? "" : ",", unambiguous(part.name),
                          part.token.to_string());
  }
  return {"HOLDFAST_NAME=" + options.name, "HOLDFAST_TOKEN=" + held.token().to_string(),
          "HOLDFAST_TOKENS=" + tokens};
}

// The exit code after the command has ended by itself.
int give_back(lease& held, const child_process& command, const run_options& options,
              const context& shared) {
  // One that has ended by itself is given back without waiting, with the lease object.
  const auto released = held.held() ? held.release() : result<void>{errc::lost};
  if (released) return command.exit_code();
  if (released.error().reason() != errc::lost) {
    note(shared, name_of(released.error().reason()),
         fmt::format("the command is done, but the lock '{}' could not be released and may be held "
                     "until its lease ends: {}",
                     options.name, released.error().what()));
    return command.exit_code();
  }
  note(shared, "lost", fmt::format("the lock '{}' was lost while the command ran", options.name));
  return options.warn_only ? command.exit_code() : lost_while_running;
}

guarded_outcome run_under(lease& held, const run_options& options, const context& shared,
                          signal_watch& signals) {
  terminal tty;
  const bool takes_terminal = tty.wanted_at_start();
  alarms wakes;
  child_process command{{options.command, environment(held, options), signals.mask_before(),
                         takes_terminal, options.passes_secrets}};
  if (takes_terminal) tty.give(command.group());
  guard watcher(held, command, wakes, tty, options, shared);
  watcher.watch(signals);
  pass_on_interrupt(command, takes_terminal);
  if (watcher.terminated()) return {lost_while_running, true, watcher.interrupted()};
  return {give_back(held, command, options, shared), false, watcher.interrupted()};
}

}  // namespace

void add_passwords_option(CLI::App& command, run_options& options) {
  command.add_flag("--pass-passwords", options.passes_secrets,
                   "Leave HOLDFAST_PASSWORD, HOLDFAST_SENTINEL_PASSWORD and a HOLDFAST_URL with a "
                   "password in the command's environment");
}

guarded_outcome run_guarded(lease& held, const run_options& options, const context& shared,
                            signal_watch& signals) {
  try {
    return run_under(held, options, shared, signals);
  } catch (const std::system_error& error) {
    if (error.code().category() != std::generic_category()) throw;
    return {report_execution(shared, error, options.command.front())};
  }
}

}  // namespace holdfast::cli
