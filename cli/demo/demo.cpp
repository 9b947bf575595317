// `holdfast demo`: stories of what goes wrong without a lock, and not under one.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include <holdfast/embedded_server.hpp>

#include "cli/commands.hpp"
#include "cli/complaint.hpp"
#include "cli/demo/picture.hpp"
#include "cli/demo/play.hpp"
#include "cli/demo/report.hpp"
#include "cli/demo/stories/tell.hpp"
#include "cli/demo/worker.hpp"
#include "cli/output.hpp"
#include "cli/password_command.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {
namespace {

using namespace demo;

struct demo_options {
  std::string story = "stock";
  sale all;
  std::string svg = "holdfast-demo.svg";
  bool no_svg = false;
};

// The workers read it like every other command; a password must not be seen in their arguments.
void hand_down(const connection_options& server) {
  ::setenv("HOLDFAST_URL", server.url.c_str(), 1);
  ::setenv("HOLDFAST_TENANT", server.tenant.c_str(), 1);
  ::setenv("HOLDFAST_USER", server.username.c_str(), 1);
  ::setenv("HOLDFAST_PASSWORD", server.password.c_str(), 1);
  if (server.password_command != nullptr) {
    ::setenv("HOLDFAST_PASSWORD_COMMAND", server.password_command->command().c_str(), 1);
  }
}

std::string own_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

void say(const std::string& text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nobody is left to tell
}

// With --json a program reads, on a terminal too.
bool is_watched(const context& shared) { return !shared.json && ::isatty(STDERR_FILENO) != 0; }

progress show_progress(const context& shared, const sale& all) {
  if (!is_watched(shared)) return [](auto...) {};
  return [all](scenario what, std::int64_t left, int frozen) {
    constexpr int length = 40;
    const auto shown = static_cast<int>(length * std::max<std::int64_t>(left, 0) / all.units);
    say(fmt::format("\r{:<30} [{:<40}] {:>7} left, {} frozen\033[K", title(what),
                    std::string(static_cast<std::size_t>(std::min(shown, length)), '#'), left,
                    frozen));
  };
}

void announce(const context& shared, const outcome& result) {
  if (is_watched(shared)) say("\r\033[K");
  if (shared.json) return;
  say(fmt::format("{}: sold {} of {} units in {:.1f} s, {} left, off by {}\n", title(result.what),
                  result.sold, result.units, result.seconds, result.left, result.error()));
}

void draw(const std::string& path, const std::vector<outcome>& results) {
  std::ofstream file(path);
  file << picture(results) << std::flush;
  if (!file) throw complaint{problem_found, "svg", "cannot write " + path};
}

int tell_sale(const connection_options& server, const std::string& id, signal_watch& signals,
              const context& shared, const demo_options& options) {
  const auto show = show_progress(shared, options.all);
  std::vector<outcome> results;
  for (const auto what :
       {scenario::no_lock, scenario::setnx, scenario::holdfast, scenario::fenced}) {
    results.push_back(play(server, options.all, what, id, signals, show));
    announce(shared, results.back());
  }
  if (!options.no_svg) draw(options.svg, results);
  shared.json ? print_json(as_json(options.all, results)) : print(as_table(results));
  return as_promised(results) ? success : problem_found;
}

int tell_story(const context& shared, const demo_options& options) {
  signal_watch signals;  // before any thread
  auto server = shared.connection;
  std::optional<embedded_server> own;
  if (!server.url_given || server.url == "embedded:") server.use_private(own.emplace().url());
  // Refuses what cannot be used; keeps a shared server alive.
  const auto kept = server.connect_and_ask();
  hand_down(server);
  const auto id = own_id();
  if (const auto* const other = find_plot(options.story)) {
    return tell(*other, server, {options.all.processes, options.all.threads}, id, signals, shared);
  }
  return tell_sale(server, id, signals, shared, options);
}

int run_demo(const context& shared, const demo_options& options) {
  try {
    return tell_story(shared, options);
  } catch (const interrupted& by) {
    return killed_by_signal + by.signal;
  }
}

}  // namespace

void add_demo(CLI::App& program, context& shared) {
  auto options = std::make_shared<demo_options>();
  auto* const command =
      program.add_subcommand("demo", "Show what happens without a lock, and with one");
  command->add_option("--story", options->story, "Which story [stock]")
      ->check(CLI::IsMember({"orders", "stock", "balance", "leader", "seats"}))
      ->type_name("NAME");
  command->add_option("--processes", options->all.processes, "Processes [4]")
      ->check(CLI::Range(2, 64));
  command->add_option("--threads", options->all.threads, "People in each process [250]")
      ->check(CLI::Range(1, 1000));
  auto* const units = command->add_option("--units", options->all.units, "Units in stock [10000]")
                          ->check(CLI::Range(100, 1'000'000'000));
  auto* const svg = command->add_option("--svg", options->svg, "Picture [holdfast-demo.svg]");
  command->add_flag("--no-svg", options->no_svg, "Draw no picture")->excludes(svg);
  command->footer(
      "orders: one order for each user and product, however often it is sent. stock: a stock that\n"
      "is not oversold, also when a holder is frozen. balance: money moved between accounts, with\n"
      "two locks. leader: one at a time; the late writes of a frozen one are refused. seats: a\n"
      "limited number at once. Each story runs without a lock first.\n\n"
      "Uses a private server unless --url or HOLDFAST_URL names one (no TLS, sentinels or "
      "clusters),\n"
      "and removes its keys.\n"
      "Exit code 1 when a run under Holdfast was not exact, or one of the other faults did not\n"
      "show.");
  command->callback([options, units, svg, &shared] {
    if (options->story != "stock" && units->count() + svg->count() > 0) {
      throw CLI::ValidationError("--units, --svg", "belong to the story 'stock'");
    }
    shared.action = [options, &shared] { return run_demo(shared, *options); };
  });
  add_worker(program, shared);
}

}  // namespace holdfast::cli
