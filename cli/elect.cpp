// holdfast elect NAME -- COMMAND...: runs a command for as long as this process leads.
#include <fmt/format.h>

#include <memory>

#include <holdfast/client.hpp>

#include "cli/commands.hpp"
#include "cli/duration.hpp"
#include "cli/elect_site.hpp"
#include "cli/guarded_command.hpp"
#include "cli/listening.hpp"
#include "cli/lock_view.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "cli/waiting.hpp"

namespace holdfast::cli {
namespace {

struct elect_options : run_options {
  bool once = false;
  listen_options listen;
};

// What an election needs beside its options.
struct candidacy {
  const election& office;
  const elect_options& options;
  const run_setting& setting;
  elect_site* site;  // null without --listen
};

// The exit code, or nothing when it led and has lost the lead: then it campaigns again.
std::optional<int> lead_once(const candidacy& of) {
  const auto& shared = of.setting.shared;
  if (of.site != nullptr) of.site->campaigns();
  auto outcome = wait_for(of.office, of.setting);
  if (outcome.ended_by) return report_interruption(shared, *outcome.ended_by);
  if (!outcome.held) return report_exception(shared, outcome.held.error());
  auto term = *std::move(outcome.held);
  term_of_office office(of.site);
  note(shared, "leads",
       fmt::format("leads '{}' with token {}", of.options.name, term.token().to_string()));
  auto setting = of.setting;
  setting.begins = [&](const lease& held) { office.begin(held); };
  setting.give_back = [&](lease& held, run_end how) {
    office.resign();
    return release(held, how);
  };
  const auto ended = run_guarded(term, setting);
  office.resign();
  if (ended.terminated || term.lost().stop_requested()) office.lose();
  if (ended.terminated && !ended.interrupted && !of.options.once) return std::nullopt;
  return ended.exit_code;
}

int elect(const elect_options& options, const context& shared) {
  signal_watch signals;
  elect_site site{options.name};
  const auto listening = options.listen.address ? listen(options.listen, site, shared) : nullptr;
  auto connection = shared.connection;
  if (listening != nullptr) connection.told = site.counted();
  const auto redis = connection.connect();
  const auto office = redis.election(options.name, {.lease = options.lease});
  const lock_choice choice{.names = {options.name}};
  const lock_view view({redis}, choice);
  const run_setting setting{options, shared, view, signals};
  const candidacy own{office, options, setting, listening == nullptr ? nullptr : &site};
  for (;;) {
    if (const auto code = lead_once(own)) return *code;
  }
}

void add_options(CLI::App& command, elect_options& options) {
  using namespace std::chrono_literals;
  options.wait = forever;
  add_duration(command, "--lease", options.lease,
               "How long a leader that died stays leader; renewed while it lives", {100ms, 24h});
  add_duration(command, "--grace", options.grace, "From SIGTERM to SIGKILL when the lead is lost",
               {0ms, 1h});
  command.add_flag("--once", options.once, "Do not campaign again when the lead is lost");
  add_listen(
      command, options.listen,
      "Answer HTTP at [HOST:]PORT while it campaigns and leads: /leader, /ready, /healthz and "
      "/metrics. Without HOST: of this machine alone");
  add_wait_for_server(command, options);
  add_process_options(command, options);
}

}  // namespace

void add_elect(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand(
      "elect",
      "Run a command while leader: holdfast elect [OPTIONS] NAME -- COMMAND [ARGUMENT...]");
  const auto options = std::make_shared<elect_options>();
  const auto names = std::make_shared<std::vector<std::string>>();
  add_names(*command, *names, 1);
  add_options(*command, *options);
  command->footer(
      "Waits until it leads, in the order in which the candidates came. When the command ends by\n"
      "itself, this program passes its exit code on, and the next candidate leads. When the lead\n"
      "is lost, it terminates the command and campaigns again; with --once it ends with 76. The\n"
      "command gets HOLDFAST_TOKEN, HOLDFAST_TOKENS, HOLDFAST_NAME and HOLDFAST_HELD.\n\n"
      "Examples:\n"
      "  holdfast elect scheduler -- ./scheduler\n"
      "  holdfast elect --lease 5s --grace 1s scheduler -- ./scheduler --verbose\n"
      "  holdfast elect --listen 9871 scheduler -- ./scheduler");
  command->callback([options, names, &shared] {
    shared.takes_operands = true;
    take_name_after_dashes(*names, shared.operands);
    options->name = all_names(*names, {}, 1).front();
    options->command = shared.operands;
    if (options->command.empty()) throw CLI::RequiredError("a command after --");
    shared.action = [options, &shared] {
      shared.connection.keep_audit(options->audit);
      return elect(*options, shared);
    };
  });
}

}  // namespace holdfast::cli
