#include <holdfast/embedded_server.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/errc.hpp>

#include "embedded/directories.hpp"
#include "support/each_server.hpp"
#include "support/eventually.hpp"
#include "support/forked.hpp"
#include "support/raw_connection.hpp"
#include "support/scoped_environment.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;
using support::eventually;
using support::forked;
using support::is_gone;
using support::scoped_environment;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class EmbeddedServer : public support::server_test {
 protected:
  embedded_options options() const { return {.program = GetParam()}; }
};
HOLDFAST_ON_EACH_SERVER(EmbeddedServer);

resp::value command(const fs::path& socket, const std::vector<std::string>& words) {
  return support::raw_connection(net::unix_endpoint{socket.string()}).command(words);
}

pid_t parent_of(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
  }
  return 0;
}

std::string refusal(const embedded_options& options, errc reason = errc::embedded_server) {
  try {
    embedded_server server(options);
  } catch (const failure& error) {
    EXPECT_EQ(error.reason(), reason);
    return error.what();
  }
  return "";
}

TEST_P(EmbeddedServer, Answers) {
  const embedded_server server(options());
  EXPECT_EQ(command(server.socket(), {"SET", "a", "b"}).text, "OK");
  EXPECT_EQ(server.url(), "unix://" + server.socket().string());
  EXPECT_EQ(server.socket().parent_path(), server.directory());
  EXPECT_THAT(command(server.socket(), {"INFO", "server"}).text,
              HasSubstr("process_id:" + std::to_string(server.pid()) + "\r\n"));
}

TEST_P(EmbeddedServer, ListensOnNoPortAndPersistsNothing) {
  const embedded_server server(options());
  EXPECT_EQ(command(server.socket(), {"CONFIG", "GET", "port"}).items.at(1).text, "0");
  EXPECT_EQ(command(server.socket(), {"CONFIG", "GET", "save"}).items.at(1).text, "");
  EXPECT_EQ(command(server.socket(), {"CONFIG", "GET", "appendonly"}).items.at(1).text, "no");
}

TEST_P(EmbeddedServer, IsClosedToOtherUsers) {
  const embedded_server server(options());
  struct stat found {};
  ASSERT_EQ(::stat(server.directory().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700U);
  ASSERT_EQ(::stat(server.socket().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0077, 0U);
}

TEST_P(EmbeddedServer, LeavesNoProcessAndNoDirectory) {
  std::optional<embedded_server> server(std::in_place, options());
  const auto pid = server->pid();
  const auto directory = server->directory();
  EXPECT_EQ(command(server->socket(), {"SAVE"}).text, "OK");  // a file that we did not make
  server.reset();
  EXPECT_TRUE(is_gone(pid));
  EXPECT_FALSE(fs::exists(directory));
  EXPECT_EQ(::waitpid(-1, nullptr, __WALL | WNOHANG), -1);  // no supervisor waits to be noticed
  EXPECT_EQ(errno, ECHILD);
}

TEST_P(EmbeddedServer, IsNoChildThatWaitFinds) {
  const embedded_server server(options());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_P(EmbeddedServer, EndsEvenWhenFrozen) {
  std::optional<embedded_server> server(std::in_place, options());
  const auto pid = server->pid();
  support::freeze(pid);
  server.reset();
  EXPECT_TRUE(is_gone(pid));
}

TEST_P(EmbeddedServer, EndsWithAnOwnerThatIsKilled) {
  forked owner([this](const forked::teller& parent) {
    const embedded_server server(options());
    parent.tell(std::to_string(server.pid()));
    parent.tell(server.directory().string());
    parent.sleep_until_killed();
  });
  const auto pid = std::stoi(owner.heard());
  const auto directory = owner.heard();
  EXPECT_FALSE(is_gone(pid));
  owner.kill9();
  EXPECT_TRUE(eventually([&] { return is_gone(pid) && !fs::exists(directory); }));
}

TEST_P(EmbeddedServer, EndsWithAnOwnerThatExitsWithoutDestructors) {
  forked owner([this](const forked::teller& parent) {
    const auto* server = new embedded_server(options());
    parent.tell(std::to_string(server->pid()));
  });
  const auto pid = std::stoi(owner.heard());
  EXPECT_EQ(owner.wait(), 0);
  EXPECT_TRUE(eventually([&] { return is_gone(pid); }));
}

TEST_P(EmbeddedServer, OutlivesTheKeyThatInterruptsItsOwner) {
  forked owner([this](const forked::teller& parent) {
    ::setpgid(0, 0);
    ::signal(SIGINT, SIG_IGN);
    const embedded_server server(options());
    parent.tell(server.socket().string());
    parent.tell(std::to_string(server.pid()));
    parent.sleep_until_killed();
  });
  const auto socket = owner.heard();
  const auto pid = std::stoi(owner.heard());
  ASSERT_EQ(::kill(-owner.pid(), SIGINT), 0);
  EXPECT_EQ(command(socket, {"PING"}).text, "PONG");
  for (const auto spared : {pid, parent_of(pid)}) {  // and no terminal can reach them
    EXPECT_NE(::getpgid(spared), ::getpgid(owner.pid()));
    EXPECT_NE(::getsid(spared), ::getsid(owner.pid()));
  }
}

TEST_P(EmbeddedServer, OutlivesTheThreadThatStartedIt) {
  std::optional<embedded_server> server;
  std::thread([&] { server.emplace(options()); }).join();
  EXPECT_EQ(command(server->socket(), {"PING"}).text, "PONG");
}

// The supervisor is forked from a process whose other threads may hold any lock at that moment.
TEST_P(EmbeddedServer, StartsWhileOtherThreadsAreBusy) {
  std::vector<std::jthread> busy;
  for (int i = 0; i < 4; ++i) {
    busy.emplace_back([](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const std::vector<std::string> garbage(100, std::string(100, 'x'));
        const std::ifstream file("/proc/self/stat");
        ASSERT_TRUE(file.is_open()) << garbage.size();
      }
    });
  }
  for (int round = 0; round < 5; ++round) {
    embedded_server server(options());
    server.restart_empty();
    EXPECT_EQ(command(server.socket(), {"PING"}).text, "PONG");
  }
}

TEST_P(EmbeddedServer, DiesWithItsSupervisor) {
  const embedded_server server(options());
  const auto supervisor = parent_of(server.pid());
  ASSERT_GT(supervisor, 1);
  ::kill(supervisor, SIGKILL);
  EXPECT_TRUE(eventually([&] { return is_gone(server.pid()); }));
}

TEST_P(EmbeddedServer, RestartsEmpty) {
  embedded_server server(options());
  const auto first = server.pid();
  command(server.socket(), {"SET", "a", "b"});
  server.restart_empty();
  EXPECT_NE(server.pid(), first);
  EXPECT_TRUE(is_gone(first));
  EXPECT_EQ(command(server.socket(), {"GET", "a"}).kind, resp::type::null);
}

TEST_P(EmbeddedServer, RestartsAfterItWasKilled) {
  embedded_server server(options());
  for (int round = 0; round < 3; ++round) {
    const auto pid = server.pid();
    ::kill(pid, SIGKILL);
    // Known to its supervisor or not yet.
    if (round > 0) {
      ASSERT_TRUE(eventually([&] { return ::kill(pid, 0) != 0; }));
    }
    server.restart_empty();
    EXPECT_EQ(command(server.socket(), {"PING"}).text, "PONG");
  }
}

TEST_P(EmbeddedServer, BelongsToTheParentAfterFork) {
  std::optional<embedded_server> server(std::in_place, options());
  const auto pid = server->pid();
  const auto directory = server->directory();
  forked child([&](const forked::teller& parent) {
    parent.tell(server->url());
    try {
      server->restart_empty();
    } catch (const failure& error) {
      parent.tell(error.code().message());
    }
    server.reset();
    parent.tell("destroyed");
    parent.sleep_until_killed();
  });
  EXPECT_EQ(child.heard(), server->url());
  EXPECT_EQ(child.heard(), make_error_code(errc::forked).message());
  EXPECT_EQ(child.heard(), "destroyed");
  EXPECT_EQ(command(server->socket(), {"PING"}).text, "PONG");
  // The child, still alive, does not keep the server alive.
  server.reset();
  EXPECT_TRUE(is_gone(pid));
  EXPECT_FALSE(fs::exists(directory));
}

TEST_P(EmbeddedServer, KeepsNothingOfItsOwnerOpen) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);  // inherited by whoever is started now
  const embedded_server server(options());
  ::close(ends[1]);
  pollfd reader{ends[0], POLLIN, 0};
  ASSERT_EQ(::poll(&reader, 1, static_cast<int>(support::generous.count())), 1);
  EXPECT_EQ(reader.revents, POLLHUP);
  ::close(ends[0]);
}

TEST_P(EmbeddedServer, CanBeManyAtOnce) {
  const embedded_server first(options());
  const embedded_server second(options());
  command(first.socket(), {"SET", "a", "1"});
  EXPECT_EQ(command(second.socket(), {"GET", "a"}).kind, resp::type::null);
}

TEST_P(EmbeddedServer, MovesWithItsServer) {
  embedded_server first(options());
  const auto pid = first.pid();
  embedded_server second(options());
  const auto replaced = second.pid();
  second = std::move(first);
  EXPECT_EQ(second.pid(), pid);
  EXPECT_TRUE(is_gone(replaced));
  EXPECT_EQ(command(second.socket(), {"PING"}).text, "PONG");
}

TEST_P(EmbeddedServer, PassesArgumentsOn) {
  auto wanted = options();
  wanted.arguments = {"--requirepass", "secret", "--maxmemory", "5mb"};
  const embedded_server server(wanted);
  EXPECT_THAT(command(server.socket(), {"GET", "a"}).text, StartsWith("NOAUTH"));
}

TEST_P(EmbeddedServer, TellsWhatTheServerSaidLast) {
  auto wrong = options();
  wrong.arguments = {"--no-such-option", "1"};
  EXPECT_THAT(refusal(wrong), AllOf(HasSubstr("ended with exit status 1"),
                                    HasSubstr("its log ends"), HasSubstr("no-such-option")));
}

TEST_P(EmbeddedServer, DoesNotStartAgainWhereItsDirectoryIsGone) {
  embedded_server server(options());
  fs::remove_all(server.directory());
  try {
    server.restart_empty();
    FAIL() << "started without a directory";
  } catch (const failure& error) {
    EXPECT_EQ(error.code(), errc::embedded_server);
    EXPECT_THAT(error.what(),
                HasSubstr("cannot enter its directory \"" + server.directory().string() +
                          "\": No such file or directory"));
  }
}

TEST(EmbeddedServerRefuses, AProgramThatDoesNotExist) {
  EXPECT_THAT(refusal({.program = "no-such-server"}),
              AllOf(HasSubstr("\"no-such-server\""), HasSubstr("redis-server"),
                    HasSubstr("valkey-server"), HasSubstr("apt install")));
}

TEST(EmbeddedServerRefuses, AProgramThatEndsAtOnce) {
  EXPECT_THAT(refusal({.program = "/bin/true"}),
              StartsWith("\"/bin/true\" ended with exit status 0: "));
  EXPECT_THAT(refusal({.program = "/bin/false"}), HasSubstr("ended with exit status 1"));
}

TEST(EmbeddedServerRefuses, AProgramThatNeverAnswers) {
  const embedded::private_directory folder;
  const auto program = folder.path() / "silent";
  std::ofstream(program) << "#!/bin/sh\necho hello\nexec sleep 600\n";
  fs::permissions(program, fs::perms::owner_all);
  EXPECT_THAT(refusal({.program = program, .start_timeout = std::chrono::milliseconds(300)}),
              AllOf(HasSubstr("did not answer within 300 ms"), HasSubstr("\"hello\"")));
}

TEST(EmbeddedServerRefuses, AnAbsurdStartTimeout) {
  using std::chrono::milliseconds;
  for (const auto bad : {milliseconds::min(), milliseconds{-1}, milliseconds{0},
                         milliseconds{600'001}, milliseconds::max()}) {
    EXPECT_THAT(refusal({.program = "/bin/true", .start_timeout = bad}, errc::invalid_argument),
                HasSubstr("start_timeout must be 1 ms to 10 min"))
        << bad.count();
  }
}

TEST(EmbeddedServerRefuses, AFileThatCannotBeExecuted) {
  const embedded::private_directory folder;
  const auto program = folder.path() / "text";
  std::ofstream(program) << "This is no program.\n";
  fs::permissions(program, fs::perms::owner_all);
  EXPECT_THAT(refusal({.program = program}), HasSubstr("cannot be executed: Exec format error"));
}

TEST(EmbeddedServerRefuses, ATemporaryDirectoryThatCannotBeWritten) {
  const scoped_environment runtime("XDG_RUNTIME_DIR", std::nullopt);
  const scoped_environment temporary("TMPDIR", "/proc");
  EXPECT_THAT(
      refusal({.program = "/bin/true"}),
      AllOf(HasSubstr("cannot create the directory \"/proc/holdfast-"), HasSubstr("set TMPDIR")));
}

TEST(EmbeddedServerRefuses, ASocketPathThatIsTooLong) {
  const embedded::private_directory folder;
  const auto deep = folder.path() / std::string(100, 'd');
  fs::create_directory(deep);
  const scoped_environment runtime("XDG_RUNTIME_DIR", std::nullopt);
  const scoped_environment temporary("TMPDIR", deep.string());
  EXPECT_THAT(refusal({.program = "/bin/true"}), HasSubstr("longer than the system allows"));
  EXPECT_TRUE(fs::is_empty(deep));
}

}  // namespace
}  // namespace holdfast
