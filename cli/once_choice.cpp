#include "cli/once_choice.hpp"

#include <algorithm>
#include <string_view>

#include "cli/duration.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds longest = 366 * 24h;

[[noreturn]] void refuse(const char* option, const std::string& why) {
  throw CLI::ValidationError(option, why);
}

milliseconds part(std::string_view text) {
  if (const auto read = parse_duration(text)) return *read;
  refuse(
      "--once-per",
      "expected INTERVAL or INTERVAL@OFFSET, each a number and its unit (ms, s, m or h), such as "
      "1h or 24h@14h");
}

// "INTERVAL[@OFFSET]"
void read_interval(const std::string& text, once_per_options& rule) {
  const auto at = std::min(text.find('@'), text.size());
  rule.interval = part(std::string_view(text).substr(0, at));
  if (at != text.size()) rule.offset = part(std::string_view(text).substr(at + 1));
  if (rule.interval < 1s || rule.interval > longest) {
    refuse("--once-per", "the interval must be 1s to 8784h");
  }
  if (rule.offset >= rule.interval) {
    refuse("--once-per", "the offset must be less than the interval");
  }
}

void read_again(const std::string& word, once_per_options& rule) {
  if (word == "failed") rule.run_again = run_again::failed;
  if (word == "lost") rule.run_again = run_again::lost;
}

}  // namespace

void add_once_choice(CLI::App& command, once_choice& choice) {
  command
      .add_option_function<std::string>(
          "--once-per", [&choice](const std::string& text) { read_interval(text, choice.rule); },
          "Run the command once per interval, on the machine that asks first: 1h is each hour by "
          "the server's clock, in UTC, and 24h@14h each day, which begins at 14:00")
      ->type_name("INTERVAL[@OFFSET]");
  add_duration(command, "--at-least-for", choice.rule.at_least_for,
               "Do not run the command if a run began less than this long ago", {1ms, longest})
      ->default_str("");
  command
      .add_option_function<std::string>(
          "--run-again", [&choice](const std::string& word) { read_again(word, choice.rule); },
          "When the command may run again in the same interval: never; failed: after a run that "
          "failed; lost: also after one whose machine died or lost the lock")
      ->check(CLI::IsMember({"never", "failed", "lost"}))
      ->type_name("WHEN")
      ->default_str("never");
  command
      .add_option("--has-run-exit-code", choice.has_run_exit_code,
                  "The exit code when the command is not due again yet, since it has run")
      ->check(CLI::Range(0, 255))
      ->type_name("N")
      ->default_str("79");
}

void check_once_choice(const CLI::App& command, const once_choice& choice,
                       const lock_choice& lock) {
  if (!choice.given()) {
    for (const auto* const option : {"--run-again", "--has-run-exit-code"}) {
      if (command.count(option) > 0) refuse(option, "goes with --once-per or --at-least-for");
    }
    return;
  }
  const auto* const given = command.count("--once-per") > 0 ? "--once-per" : "--at-least-for";
  if (lock.quorum.given()) {
    refuse(given, "not possible over a quorum: each member would record runs of its own");
  }
  if (lock.of != lock_choice::kind::mutex) {
    refuse(given,
           "goes with a plain mutex only: not with --shared, --exclusive, --permits, --fair or "
           "--all-of");
  }
  if (lock.how.name() == "shedlock") {
    if (command.count("--once-per") > 0) {
      refuse("--once-per", "ShedLock knows no intervals: give --at-least-for, which it does know");
    }
    if (choice.rule.run_again != run_again::never) {
      refuse("--run-again", "ShedLock does not record how a run ended");
    }
  } else if (lock.how != dialect{}) {
    refuse(given, "not possible with --dialect " + std::string(lock.how.name()) +
                      ": of other libraries only ShedLock has such jobs");
  }
}

once_per make_job(const client& redis, const once_choice& choice, const lock_choice& lock,
                  milliseconds lease) {
  auto rule = choice.rule;
  rule.lease = lease;
  return redis.once_per(lock.names.front(), rule, lock.how);
}

}  // namespace holdfast::cli
