// The program on a terminal: who has it, what Ctrl-C and Ctrl-Z reach, how a script sees that, and
// the progress of the demo.
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "base/time.hpp"
#include "cli/program.hpp"
#include "net/clock.hpp"
#include "net/descriptor.hpp"
#include "support/fake_server.hpp"

namespace holdfast::cli_tests {
namespace {

using support::fake_server;

constexpr const char* ctrl_c = "\x03";
constexpr const char* ctrl_z = "\x1a";

// A shell that runs a script as the leader of a session with a terminal of its own.
class shell_on_terminal {
 public:
  explicit shell_on_terminal(std::string script) {
    std::string name = "sh";
    std::string option = "-c";
    const std::array<char*, 4> words{name.data(), option.data(), script.data(), nullptr};
    int master = -1;
    pid_ = ::forkpty(&master, nullptr, nullptr, nullptr);
    if (pid_ < 0) throw std::runtime_error("forkpty");
    if (pid_ == 0) {
      ::execvp(words[0], words.data());
      ::_exit(127);
    }
    master_.reset(master);
  }
  // Everybody in the session is sent SIGHUP, as when a window is closed.
  ~shell_on_terminal() {
    master_.reset();
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  shell_on_terminal(const shell_on_terminal&) = delete;
  shell_on_terminal& operator=(const shell_on_terminal&) = delete;

  void type(std::string_view keys) const {
    ASSERT_EQ(::write(master_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  bool shows(std::string_view text) {
    const auto deadline = net::now() + support::for_a_program;
    while (screen_.find(text) == std::string::npos) {
      if (!receive(deadline)) return false;
    }
    return true;
  }

  // The screen when all have left it.
  const std::string& last_screen() {
    const auto deadline = net::now() + support::for_a_program;
    while (receive(deadline)) {
    }
    return screen_;
  }
  const std::string& screen() const noexcept { return screen_; }

  pid_t group_in_front() const { return ::tcgetpgrp(master_.get()); }
  pid_t pid() const noexcept { return pid_; }

 private:
  bool receive(monotonic_time deadline) {
    pollfd readable{master_.get(), POLLIN, 0};
    const auto left = std::chrono::ceil<milliseconds>(deadline - net::now());
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0) {
      return false;
    }
    std::array<char, 4096> bytes{};
    const auto size = ::read(master_.get(), bytes.data(), bytes.size());
    if (size <= 0) return false;
    screen_.append(bytes.data(), static_cast<std::size_t>(size));
    return true;
  }

  pid_t pid_ = -1;
  net::descriptor master_;
  std::string screen_;
};

// A server that accepts connections and never says anything.
class RunOnTerminal : public ::testing::Test {
 protected:
  // With a password, which nobody may see.
  std::string run_patiently(const std::string& connect_timeout) const {
    return "HOLDFAST_URL=redis://jobs:secret@127.0.0.1:" + std::to_string(silent_.port()) + " " +
           HOLDFAST_PROGRAM + " run --connect-timeout " + connect_timeout + " a -- true";
  }
  const std::string& address() const { return address_; }

 private:
  const fake_server silent_{[](const auto&) { return fake_server::silence(); }};
  const std::string address_ = silent_.url();
};

TEST_F(RunOnTerminal, SaysWhichServerDoesNotAnswer) {
  shell_on_terminal shell("exec env " + run_patiently("1m"));
  EXPECT_TRUE(shell.shows("holdfast: waiting: no answer yet from " + address())) << shell.screen();
  EXPECT_THAT(shell.screen(), Not(HasSubstr("secret")));
}

TEST_F(RunOnTerminal, SaysWhyTheLockCannotBeLookedAt) {
  shell_on_terminal shell("exec env " + run_patiently("10ms"));
  EXPECT_TRUE(shell.shows("holdfast: waiting: 'a' cannot be looked at: ")) << shell.screen();
  EXPECT_TRUE(shell.shows("does not answer")) << shell.screen();
  EXPECT_THAT(shell.screen(), Not(HasSubstr("secret")));
}

// `holdfast run a -- sh -c 'SCRIPT'`, where the script has no apostrophe.
std::string locked(const private_server& server, const std::string& script) {
  return std::string(HOLDFAST_PROGRAM) + " run --url " + server.url() + " a -- sh -c '" + script +
         "'; ";
}

int times(const std::string& text, const std::string& what) {
  int found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

HOLDFAST_ON_EACH_SERVER(CommandLine);

TEST_P(CommandLine, TerminalIsTheCommandsWhileItRunsAndThenTheScripts) {
  const auto server = start();
  shell_on_terminal shell(
      locked(server, "echo in $$.; read line; echo the command read $line.; exit 7") +
      "echo code $?; read line; echo the script read $line.");
  ASSERT_TRUE(shell.shows(".")) << shell.screen();
  EXPECT_NE(shell.group_in_front(), shell.pid());
  EXPECT_TRUE(shell.shows("in " + std::to_string(shell.group_in_front()) + "."));
  shell.type("one\n");
  EXPECT_TRUE(shell.shows("the command read one."));
  ASSERT_TRUE(shell.shows("code 7")) << shell.screen();
  EXPECT_EQ(shell.group_in_front(), shell.pid());
  shell.type("two\n");
  EXPECT_TRUE(shell.shows("the script read two."));
}

TEST_P(CommandLine, SaysWhoIsWaitedFor) {
  const auto server = start();
  child_process holder(call_at(server, {"run", "a", "--", "sh", "-c", "echo in; exec cat"}));
  ASSERT_TRUE(holder.wait_for_output("in"));
  shell_on_terminal shell(locked(server, "echo then it is ours.") + "echo code $?");
  EXPECT_TRUE(shell.shows("holdfast: waiting: 'a' is held by ")) << shell.screen();
  EXPECT_TRUE(shell.shows(std::to_string(holder.pid())));
  holder.close_input();
  EXPECT_TRUE(shell.shows("then it is ours.")) << shell.screen();
  EXPECT_TRUE(shell.shows("code 0")) << shell.screen();
}

TEST_P(CommandLine, InterruptReachesTheCommandOnce) {
  const auto server = start();
  shell_on_terminal shell(locked(server,
                                 "trap \"echo caught\" INT; echo in.; "
                                 "until read line && test \"$line\" = end; do :; done; exit 9") +
                          "echo code $?");
  ASSERT_TRUE(shell.shows("in.")) << shell.screen();
  shell.type(ctrl_c);
  ASSERT_TRUE(shell.shows("caught")) << shell.screen();
  shell.type("end\n");
  EXPECT_TRUE(shell.shows("code 9")) << "a command that handled it ends as it likes";
  EXPECT_EQ(times(shell.last_screen(), "caught"), 1) << shell.screen();
}

TEST_P(CommandLine, ScriptSeesTheInterruptThatEndedItsCommand) {
  const auto server = start();
  shell_on_terminal shell("trap 'echo noticed' INT; " + locked(server, "echo in.; exec sleep 600") +
                          "echo code $?");
  ASSERT_TRUE(shell.shows("in.")) << shell.screen();
  shell.type(ctrl_c);
  EXPECT_TRUE(shell.shows("code 130")) << shell.screen();
  EXPECT_EQ(times(shell.last_screen(), "noticed"), 1) << shell.screen();
  EXPECT_EQ(holdfast_at(server, {"run", "--nonblock", "a", "--", "true"}).how, exited(0));
}

TEST_P(CommandLine, JobIsStoppedAndGoesOnInFront) {
  const auto server = start();
  shell_on_terminal shell("set -m; " +
                          locked(server, "echo in.; read line; echo went on with $line.; exit 6") +
                          "echo stopped $?.; fg; echo code $?");
  ASSERT_TRUE(shell.shows("in.")) << shell.screen();
  shell.type(ctrl_z);
  ASSERT_TRUE(shell.shows("stopped " + std::to_string(128 + SIGSTOP) + ".")) << shell.screen();
  // `fg` gives the terminal to our group, and we give it to the command.
  shell.type("luck\n");
  EXPECT_TRUE(shell.shows("went on with luck.")) << shell.screen();
  EXPECT_TRUE(shell.shows("code 6")) << shell.screen();
}

// Its command asks for what only who is in front may read.
TEST_P(CommandLine, JobInTheBackgroundStopsUntilItIsInFront) {
  const auto server = start();
  auto job = locked(server, "read line; echo went on with $line.; exit 6");
  job.replace(job.rfind(';'), 1, " &");
  shell_on_terminal shell("set -m; " + job +
                          "until grep -q ') T ' /proc/$!/stat; do :; done; "
                          "echo waits.; fg; echo code $?");
  ASSERT_TRUE(shell.shows("waits.")) << shell.screen();
  shell.type("luck\n");
  EXPECT_TRUE(shell.shows("went on with luck.")) << shell.screen();
  EXPECT_TRUE(shell.shows("code 6")) << shell.screen();
}

bool is_stopped(const child_process& program) {
  std::ifstream file("/proc/" + std::to_string(program.pid()) + "/stat");
  std::string all;
  std::getline(file, all);
  return all.find(") T ") != std::string::npos;
}

bool has_socket(const child_process& program) {
  std::error_code gone;
  const auto open = "/proc/" + std::to_string(program.pid()) + "/fd";
  for (const auto& each : std::filesystem::directory_iterator(open, gone)) {
    const auto what = std::filesystem::read_symlink(each.path(), gone).string();
    if (what.starts_with("socket:")) return true;
  }
  return false;
}

// As by Ctrl-Z: who has no command that would be stopped instead.
TEST_P(CommandLine, WatchBenchAndDemoCanBeStopped) {
  for (const auto& arguments :
       {words{"watch", "a"}, words{"bench", "--seconds", "3"}, words{"demo", "--no-svg"}}) {
    const auto server = start();
    child_process program(call_at(server, arguments));
    const bool is_watch = arguments.front() == "watch";
    ASSERT_TRUE(is_watch ? program.wait_for_output("free, 0 waiting") : eventually([&] {
      return server.command({"DBSIZE"}).number > 0;
    })) << arguments.front();
    program.signal(SIGTSTP);
    EXPECT_TRUE(eventually([&] { return is_stopped(program); })) << arguments.front();
    program.signal(SIGCONT);
    program.signal(SIGINT);
    EXPECT_EQ(program.wait(), exited(128 + SIGINT)) << arguments.front();
  }
}

// Nobody answers, and for so long nobody can be asked whether to go on.
TEST_P(CommandLine, CommandsCanBeInterruptedWhileTheyWaitForTheServer) {
  auto server = start();
  server.freeze();
  for (const auto& arguments :
       {words{"watch", "a"}, words{"bench"}, words{"demo", "--no-svg"},
        words{"run", "a", "--", "true"}, words{"elect", "a", "--", "true"}}) {
    auto patient = call_at(server, arguments);
    patient.environment.emplace_back("HOLDFAST_HELD=a=1");  // looked at before it is waited for
    const words after{"--connect-timeout", "10m", "--response-timeout", "10m"};
    patient.arguments.insert(patient.arguments.begin() + 1, after.begin(), after.end());
    child_process program(patient);
    ASSERT_TRUE(eventually([&] { return has_socket(program); })) << arguments.front();
    program.signal(SIGINT);
    EXPECT_EQ(program.wait(), exited(128 + SIGINT)) << arguments.front();
  }
  server.thaw();
}

// With more foreign keys than a search sees to its end, until it may.
class SearchOnTerminal : public ::testing::Test {
 protected:
  static fake_server::script many_keys(std::function<bool()> may_end) {
    return [may_end = std::move(may_end)](
               const fake_server::command& said) -> std::optional<fake_server::reply> {
      if (said.at(0) == "DBSIZE") return fake_server::answer(":200000000\r\n");
      if (said.at(0) != "SCAN") return std::nullopt;
      return fake_server::answer(may_end() ? "*2\r\n$1\r\n0\r\n*0\r\n" : "*2\r\n$1\r\n7\r\n*0\r\n");
    };
  }
  static std::string search(const fake_server& server) {
    return std::string(HOLDFAST_PROGRAM) + " ls --scan --url " + server.url();
  }
};

TEST_F(SearchOnTerminal, ShowsHowFarItIsAndLeavesNothingOfIt) {
  std::atomic<bool> seen = false;
  const fake_server server(many_keys([&] { return seen.load(); }));
  shell_on_terminal shell(search(server) + "; echo code $?.");
  EXPECT_TRUE(shell.shows("[#")) << shell.screen();
  EXPECT_TRUE(shell.shows(" of 200000000 keys")) << shell.screen();
  seen = true;
  EXPECT_TRUE(shell.shows(" keys\r\x1b[KNAME")) << "the bar is wiped: " << shell.screen();
  EXPECT_TRUE(shell.shows("code 0.")) << shell.screen();
}

TEST_F(SearchOnTerminal, ShowsNoBarToReadersOfJson) {
  const auto end = net::now() + std::chrono::seconds{1};
  const fake_server server(many_keys([&] { return net::now() > end; }));
  shell_on_terminal shell(search(server) + " --json");
  const auto& screen = shell.last_screen();
  EXPECT_TRUE(nlohmann::json::accept(screen)) << screen;
}

TEST_P(CommandLine, DemoShowsItsProgress) {
  const auto server = start();
  shell_on_terminal shell(std::string(HOLDFAST_PROGRAM) + " demo --processes 2 --threads 20 " +
                          "--units 400 --no-svg --url " + server.url());
  EXPECT_TRUE(shell.shows("[#")) << shell.screen();
  EXPECT_TRUE(shell.shows(" left, ")) << shell.screen();
}

TEST_P(CommandLine, DemoShowsNoProgressToWhoReadsJson) {
  const auto server = start();
  shell_on_terminal shell(std::string(HOLDFAST_PROGRAM) + " demo --json --processes 2 " +
                          "--threads 20 --units 400 --no-svg --url " + server.url());
  const auto& screen = shell.last_screen();
  EXPECT_TRUE(nlohmann::json::accept(screen)) << screen;
}

}  // namespace
}  // namespace holdfast::cli_tests
