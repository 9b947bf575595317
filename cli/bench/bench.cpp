// `holdfast bench`: pairs of lock and unlock beside the server's own limit, in the same run.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include <holdfast/embedded_server.hpp>

#include "cli/bench/measure.hpp"
#include "cli/bench/raw_pairs.hpp"
#include "cli/commands.hpp"
#include "cli/duration.hpp"
#include "cli/output.hpp"
#include "cli/server_address.hpp"

namespace holdfast::cli {
namespace {

using namespace bench;
using namespace std::chrono_literals;

struct bench_options {
  int threads = 4;
  int locks = 0;  // 0: as many as threads
  int seconds = 3;
  std::chrono::milliseconds lease = 30s;
  bool no_spin = false;
};

struct results {
  measurement ping;
  measurement plain;
  measurement holdfast;
};

std::string own_prefix() {
  std::random_device random;
  return fmt::format("bench:{:08x}{:08x}:", random(), random());
}

measurement measure_locks(const connection_options& server, const bench_options& options,
                          const std::string& prefix, signal_watch& signals) {
  auto settings = server.for_client(server.url);
  if (options.no_spin) settings.spin = 0us;
  const client redis{server.url, settings};
  std::vector<std::function<void()>> pairs;
  for (int i = 0; i < options.threads; ++i) {
    const auto name = prefix + std::to_string(i % options.locks);
    pairs.emplace_back(
        [lock = redis.mutex(name, {.lease = options.lease})] { lock.acquire().release().value(); });
  }
  return measure(pairs, std::chrono::seconds(options.seconds), signals);
}

results measure_all(const connection_options& server, const bench_options& options,
                    signal_watch& signals) {
  const auto prefix = own_prefix();
  const std::chrono::seconds time(options.seconds);
  raw_pairs plain(server, prefix, options.lease);
  results all;
  all.ping = measure({[&] { plain.ping(); }}, time, signals);
  all.plain = measure({[&] { plain.pair(); }}, time, signals);
  all.holdfast = measure_locks(server, options, prefix, signals);
  return all;
}

double rate_ratio(const results& all) { return all.holdfast.per_second / all.plain.per_second; }

double median_ratio(const results& all) {
  return all.holdfast.microseconds_at(0.5) / all.plain.microseconds_at(0.5);
}

std::string as_table(const bench_options& options, const results& all) {
  table rows({"MEASURED", "PER SECOND", "P50", "P99", "P99.9"});
  const auto add = [&](const std::string& what, const measurement& one) {
    const auto at = [&](double share) {
      return fmt::format("{:.1f} us", one.microseconds_at(share));
    };
    rows.add({what, fmt::format("{:.0f}", one.per_second), at(0.5), at(0.99), at(0.999)});
  };
  add("PING, one socket", all.ping);
  add("pairs, one plain socket", all.plain);
  add(fmt::format("pairs, Holdfast, {} threads, {} locks", options.threads, options.locks),
      all.holdfast);
  return rows.text() + fmt::format("\nHoldfast / plain socket: rate {:.2f}, p50 {:.2f}\n",
                                   rate_ratio(all), median_ratio(all));
}

nlohmann::ordered_json as_json(const measurement& one) {
  return {{"count", one.nanoseconds.size()},
          {"per_second", one.per_second},
          {"p50_us", one.microseconds_at(0.5)},
          {"p99_us", one.microseconds_at(0.99)},
          {"p999_us", one.microseconds_at(0.999)}};
}

nlohmann::ordered_json as_json(const bench_options& options, const results& all) {
  return {{"threads", options.threads},         {"locks", options.locks},
          {"seconds", options.seconds},         {"lease_ms", options.lease.count()},
          {"spin", !options.no_spin},           {"ping", as_json(all.ping)},
          {"plain_socket", as_json(all.plain)}, {"holdfast", as_json(all.holdfast)},
          {"rate_ratio", rate_ratio(all)},      {"p50_ratio", median_ratio(all)}};
}

int run_bench(const context& shared, bench_options options) {
  if (options.locks == 0) options.locks = options.threads;
  signal_watch signals;  // before any thread
  auto server = shared.connection;
  std::optional<embedded_server> own;
  if (server.url == "embedded:") server.use_private(own.emplace().url());
  // Refuses what cannot be used; keeps a shared server alive.
  const auto kept = server.connect_and_ask();
  try {
    const auto all = measure_all(server, options, signals);
    shared.json ? print_json(as_json(options, all)) : print(as_table(options, all));
    return success;
  } catch (const interrupted& by) {
    return killed_by_signal + by.signal;
  }
}

}  // namespace

void add_bench(CLI::App& program, context& shared) {
  auto options = std::make_shared<bench_options>();
  auto* const command =
      program.add_subcommand("bench", "Measure locking beside the server's own limit");
  command->add_option("--threads", options->threads, "Threads that lock and unlock [4]")
      ->check(CLI::Range(1, 256));
  command->add_option("--locks", options->locks, "Locks that they share [one for each thread]")
      ->check(CLI::Range(1, 256));
  command->add_option("--seconds", options->seconds, "For each of three measurements [3]")
      ->check(CLI::Range(1, 60));
  add_duration(*command, "--lease", options->lease, "Lease of the locks", {100ms, 24h});
  command->add_flag("--no-spin", options->no_spin, "Sleep at once while waiting for an answer");
  command->footer(
      "Puts load on the server. Removes its keys; fence counters (hf:fence:*) stay, as after every "
      "lock.\n"
      "One server: no TLS, sentinels or clusters.");
  command->callback([options, &shared] {
    shared.action = [options, &shared] { return run_bench(shared, *options); };
  });
}

}  // namespace holdfast::cli
