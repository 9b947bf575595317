// The program: reads the arguments, runs the chosen command, reports what went wrong.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <span>
#include <string>
#include <string_view>

#include <holdfast/version.hpp>

#include "cli/commands.hpp"
#include "cli/duration.hpp"
#include "cli/output.hpp"
#include "cli/usage.hpp"

namespace holdfast::cli {
namespace {

// Two peers have the same options for TLS, under other names.
struct tls_words {
  std::string option;    // "--tls"
  std::string variable;  // "HOLDFAST_TLS"
  std::string when;
  std::string peer;
};

void add_tls(CLI::App& program, tls_arguments& into, const tls_words& words) {
  const auto add = [&](const char* name, std::string& value, const std::string& about,
                       const char* type) {
    program.add_option(words.option + name, value, about)->type_name(type);
  };
  add("-ca", into.authorities,
      words.when + ": file or directory of the authorities to trust [" + words.variable +
          "_CA, else the system's]",
      "PATH");
  add("-cert", into.certificate, "Our own certificate [" + words.variable + "_CERT]", "FILE");
  add("-key", into.key, "Its key [" + words.variable + "_KEY, else in the same file]", "FILE");
  add("-server-name", into.server_name,
      "The name that the " + words.peer + "'s certificate must have [" + words.variable +
          "_SERVER_NAME, else the host of the URL]",
      "NAME");
  program.add_flag(words.option + "-insecure-accept-any-certificate", into.accept_any_certificate,
                   "Do not check who the " + words.peer + " is: anybody on the way can pose as it");
}

void add_failover(CLI::App& program, failover_arguments& into) {
  using namespace std::chrono_literals;
  program
      .add_option("--min-replicas", into.min_replicas,
                  "How many replicas must have a grant of a lock before it counts [0]")
      ->type_name("N")
      ->check(CLI::Range(0, 100));
  program.add_flag("--replicas-fsync", into.replicas_fsync,
                   "With --min-replicas: they must have it on their disks (Redis 7.2, Valkey)");
  add_duration(
      program, "--quarantine", into.quarantine,
      "How long nothing is granted after a failover that this program notices: the longest "
      "lease in use, the same for all",
      {0ms, 24h});
}

void add_connection(CLI::App& program, connection_arguments& into) {
  using namespace std::chrono_literals;
  program
      .add_option(
          "--url", into.url,
          "Server: redis://[user@]host[:port][/db], the same with rediss:// for TLS, "
          "redis+sentinel://host,host/service, redis+cluster://[user@]host[:port],... (both also "
          "with rediss), unix:///path, embedded: or embedded:/dir [HOLDFAST_URL, else "
          "redis://127.0.0.1:6379]")
      ->type_name("URL");
  program.add_option("--user", into.username, "User name [HOLDFAST_USER]")->type_name("NAME");
  program
      .add_option("--tenant", into.tenant,
                  "The tenant to which the locks belong, if several share a server: all its keys "
                  "and channels begin with hf:@NAME: [HOLDFAST_TENANT, else none, and hf:]")
      ->type_name("NAME");
  program
      .add_option("--password-file", into.password_file,
                  "File with the password in its first line [else HOLDFAST_PASSWORD]")
      ->type_name("FILE");
  program
      .add_option("--password-command", into.password_command,
                  "Shell command that prints the password in its first line, instead "
                  "[HOLDFAST_PASSWORD_COMMAND]")
      ->type_name("COMMAND");
  add_duration(program, "--password-valid-for", into.password_valid_for,
               "How long such a password is good: the command runs again before that, and the new "
               "password is sent on the connections that are there [until it is refused]",
               {1s, 24h * 365});
  program
      .add_option("--sentinel-password-file", into.sentinel_password_file,
                  "File with the password for the sentinels [else HOLDFAST_SENTINEL_PASSWORD]")
      ->type_name("FILE");
  add_tls(program, into.tls, {"--tls", "HOLDFAST_TLS", "With rediss://", "server"});
  add_tls(program, into.sentinel_tls,
          {"--sentinel-tls", "HOLDFAST_SENTINEL_TLS",
           "TLS to the sentinels apart from their servers, by any of these five", "sentinel"});
  program.add_flag("--insecure-plain-sentinels", into.plain_sentinels,
                   "With rediss+sentinel://: no TLS to the sentinels, so that anybody on the way "
                   "can name the server");
  add_duration(program, "--connect-timeout", into.connect_timeout, "How long connecting may take",
               {1ms, 10min});
  add_duration(program, "--response-timeout", into.response_timeout, "How long one answer may take",
               {1ms, 10min});
  add_failover(program, into.failover);
}

void set_up(CLI::App& program, connection_arguments& connection, context& shared) {
  program.name("holdfast");
  program.formatter(make_help_formatter());  // before the commands, which get it from here
  program.set_version_flag("--version", std::string("holdfast ") + version);
  program.set_help_flag("--help,-h", "Print this help");
  program.require_subcommand(1);
  program.fallthrough();
  program.failure_message(CLI::FailureMessage::simple);
  program.footer("`holdfast COMMAND --help` tells more. Exit codes: see holdfast(1).");
  add_connection(program, connection);
  program.add_flag("--json", shared.json, "Print JSON, also for errors");
  add_run(program, shared);
  add_elect(program, shared);
  add_status(program, shared);
  add_ls(program, shared);
  add_watch(program, shared);
  add_audit(program, shared);
  add_release(program, shared);
  add_counter(program, shared);
  add_semaphore(program, shared);
  add_capabilities(program, shared);
  add_doctor(program, shared);
  add_serve(program, shared);
  add_acl(program, shared);
  add_completion(program, shared);
  add_help(program, shared);
#ifdef HOLDFAST_CLI_HAS_DEMO
  add_demo(program, shared);
#endif
#ifdef HOLDFAST_CLI_HAS_BENCH
  add_bench(program, shared);
#endif
}

// Words after "--" are not for CLI11, which reads a meaning into "[a,b]" and "{}".
std::vector<std::string> own_words(std::span<char* const> words, context& shared) {
  const auto dashes = std::ranges::find(words, std::string_view("--"));
  if (dashes != words.end()) shared.operands.assign(dashes + 1, words.end());
  std::vector<std::string> own(words.begin(), dashes);
  shared.json = std::ranges::find(own, "--json") != own.end();  // also for errors in the words
  return own;
}

// Our parent may have closed a standard descriptor. The next socket would get its number, and text
// for people would go to the server. Opened the wrong way round, it fails its users as a closed one
// would, also in the command that we run.
void occupy_standard_descriptors() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(standard, F_GETFD) != -1) continue;
    ::open("/dev/null", standard == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int run_program(std::span<char* const> words) {
  CLI::App program{"Distributed locks on Redis and Valkey."};
  context shared;
  connection_arguments connection;
  auto own = own_words(words, shared);
  set_up(program, connection, shared);
  try {
    std::ranges::reverse(own);
    program.parse(std::move(own));
  } catch (const CLI::ParseError& error) {
    return report_usage(program, shared, error);
  }
  if (!shared.operands.empty() && !shared.takes_operands) {
    report_error(shared.json, "usage", "this command takes nothing after --");
    return usage;
  }
  try {
    shared.connection = resolve(connection);
    return shared.action();
  } catch (const std::exception& error) {
    return report_exception(shared, error);
  }
}

}  // namespace
}  // namespace holdfast::cli

int main(int count, char** words) {
  holdfast::cli::occupy_standard_descriptors();
  std::setlocale(LC_CTYPE, "C.UTF-8");  // for the width of characters
  try {
    return holdfast::cli::run_program({words + 1, words + count});
  } catch (const std::exception& error) {
    holdfast::cli::report_error(false, "internal", error.what());
    return holdfast::cli::internal;
  }
}
