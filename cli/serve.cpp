// holdfast serve: the locks of servers as a page, as JSON and as metrics.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "cli/commands.hpp"
#include "cli/duration.hpp"
#include "cli/listening.hpp"
#include "cli/output.hpp"
#include "cli/serve/serve_site.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

struct serve_options {
  listen_options listen;
  std::string name = "default";
  std::vector<std::string> also;  // "NAME=URL"
  look_options look;
  bool doctor = false;
  milliseconds doctor_every{60'000};
};

struct named_url {
  std::string name;
  std::string url;
};

std::vector<named_url> servers_of(const serve_options& options, const std::string& first) {
  std::vector<named_url> all = {{options.name, first}};
  for (const auto& word : options.also) {
    const auto equals = word.find('=');
    all.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return all;
}

// While parsing: what is wrong with the words is an error of usage.
void check_names(const serve_options& options) {
  for (const auto& word : options.also) {
    const auto equals = word.find('=');
    if (equals == word.npos || equals == 0 || equals + 1 == word.size()) {
      throw CLI::ValidationError("--also", fmt::format("'{}' is not NAME=URL", word));
    }
  }
  std::set<std::string> names;
  for (const auto& server : servers_of(options, "")) {
    if (!names.insert(server.name).second) {
      throw CLI::ValidationError(
          "--also", fmt::format("two servers have the name '{}': choose another, or give the first "
                                "one a name by --name",
                                server.name));
    }
  }
}

// To be asked to end is a service's ordinary end.
int wait_for_end(signal_watch& signals) {
  for (;;) {
    pollfd polled{signals.fd(), POLLIN, 0};
    ::poll(&polled, 1, -1);
    if (const auto signal = signals.next_that_ends()) {
      return asks_to_end(*signal) ? success : killed_by_signal + *signal;
    }
  }
}

// Ends looks that wait for an answer, so that nobody waits for them.
struct calls_off {
  std::stop_source calls;
  ~calls_off() { calls.request_stop(); }
};

int serve(const serve_options& options, const context& shared) {
  signal_watch signals;
  auto how = options.look;
  if (options.doctor) how.doctor_every = options.doctor_every;
  std::vector<std::unique_ptr<watched_server>> servers;
  how.longest_call = shared.connection.connect_timeout + shared.connection.response_timeout;
  for (const auto& [name, url] : servers_of(options, "")) {
    refuse_password_in("--also", url, "HOLDFAST_PASSWORD or --password-file");
  }
  for (const auto& [name, url] : servers_of(options, shared.connection.url)) {
    servers.push_back(
        std::make_unique<watched_server>(name, shared.connection.connect_to(url), how));
  }
  serve_site site{std::move(servers)};
  const calls_off unfinished{shared.connection.stop};
  const auto listening = listen(options.listen, site, shared);
  return wait_for_end(signals);
}

void add_options(CLI::App& command, serve_options& options) {
  options.listen.address = http::listen_address{.port = 9870};
  add_listen(command, options.listen,
             "Where it answers, as [HOST:]PORT; without HOST for programs of this machine alone "
             "[9870]");
  command.add_option("--name", options.name, "What the server of --url is called [default]")
      ->type_name("NAME");
  command
      .add_option(
          "--also", options.also,
          "Another server to look at, with the same user and password. May be given several "
          "times")
      ->type_name("NAME=URL")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option(
          "--pattern", options.look.pattern,
          "Names to look at, as of `holdfast ls`; for a user with rights to these alone [*]")
      ->type_name("PATTERN");
  add_duration(command, "--refresh", options.look.refresh, "How often it looks", {200ms, 1h});
  command.add_option("--limit", options.look.most_locks, "Look at this many locks at most")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->default_str("10000");
  command.add_flag("--all-dialects", options.look.all_dialects,
                   "Also locks of other libraries, among the first 50,000 keys");
  auto* const doctor = command.add_flag("--doctor", options.doctor,
                                        "Also run what `holdfast doctor` runs, now and then. It "
                                        "writes keys of its own on the server");
  add_duration(command, "--doctor-every", options.doctor_every, "How often", {10s, 24h})
      ->needs(doctor);
}

}  // namespace

void add_serve(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand(
      "serve", "Show the locks of servers as a page, as JSON and as metrics");
  const auto options = std::make_shared<serve_options>();
  add_options(*command, *options);
  command->footer(
      "Looks at the servers in the background, and answers HTTP from what it has seen last: a "
      "page\n"
      "at /, JSON under /api/v1/, metrics for Prometheus at /metrics, and the probes /healthz and\n"
      "/readyz. It shows, and changes nothing. There is no log-in.\n\n"
      "Examples:\n"
      "  holdfast serve\n"
      "  holdfast serve --name orders --also stock=redis://stock.example.com --refresh 5s");
  command->callback([options, &shared] {
    check_names(*options);
    shared.action = [options, &shared] { return serve(*options, shared); };
  });
}

}  // namespace holdfast::cli
