#include "embedded/shared_server.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <deque>
#include <fstream>
#include <memory>
#include <optional>
#include <set>

#include <holdfast/errc.hpp>

#include "embedded/directories.hpp"
#include "embedded/server_process.hpp"
#include "support/each_server.hpp"
#include "support/eventually.hpp"
#include "support/forked.hpp"
#include "support/found_server.hpp"
#include "support/raw_connection.hpp"
#include "support/scoped_environment.hpp"

namespace holdfast::embedded {
namespace {

namespace fs = std::filesystem;
using support::eventually;
using support::forked;
using support::is_gone;
using support::scoped_environment;
using ::testing::HasSubstr;

class SharedServer : public support::found_server_test {
 protected:
  shared_embedded_server join() const { return shared_embedded_server::join(directory_); }

  resp::value command(const std::vector<std::string>& words) const {
    const auto socket = (directory_ / "server.sock").string();
    return support::raw_connection(net::unix_endpoint{socket}).command(words);
  }

  int number_in_info(const std::string& field) const {
    const auto info = command({"INFO", "server"}).text;
    return std::stoi(info.substr(info.find(field + ":") + field.size() + 1));
  }
  pid_t server_pid() const { return number_in_info("process_id"); }

  bool answers_now() const {
    return answers(directory_ / "server.sock", net::now() + support::generous);
  }

  // A process that joins, tells the server's pid and stays.
  std::unique_ptr<forked> another_user() const {
    return std::make_unique<forked>([this](const forked::teller& parent) {
      const auto server = join();
      parent.tell(std::to_string(server_pid()));
      parent.sleep_until_killed();
    });
  }

  // As somebody does who joins.
  std::unique_ptr<net::descriptor> take_lock() const {
    const auto file = (directory_ / "lock").string();
    auto lock =
        std::make_unique<net::descriptor>(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(::flock(lock->get(), LOCK_EX), 0);
    return lock;
  }

  // Long enough to see an end that should not come.
  static constexpr milliseconds watched{200};

  private_directory base_;
  fs::path directory_ = base_.path() / "shared";
  scoped_environment linger_{"HOLDFAST_EMBEDDED_LINGER", "50"};
};
HOLDFAST_ON_EACH_SERVER(SharedServer);

TEST_P(SharedServer, IsStartedByTheFirstAndFoundByTheNext) {
  const auto first = join();
  EXPECT_EQ(first.socket(), directory_ / "server.sock");
  const auto pid = server_pid();
  const auto second = join();
  EXPECT_EQ(server_pid(), pid);
  struct stat found {};
  ASSERT_EQ(::stat(directory_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700U);
}

TEST_P(SharedServer, IsOneForEightProcessesThatJoinAtOnce) {
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  std::deque<forked> users;
  for (int i = 0; i < 8; ++i) {
    users.emplace_back([&](const forked::teller& parent) {
      char nothing = 0;
      ::close(gate[1]);
      if (::read(gate[0], &nothing, 1) != 0) return;
      const auto server = join();
      parent.tell(std::to_string(server_pid()));
      parent.sleep_until_killed();
    });
  }
  ::close(gate[1]);  // all at once
  std::set<std::string> servers;
  for (auto& user : users) servers.insert(user.heard());
  EXPECT_EQ(servers.size(), 1U);
  ::close(gate[0]);
}

TEST_P(SharedServer, EndsAfterTheLastHasLeft) {
  std::optional first(join());
  std::optional second(join());
  const auto pid = server_pid();
  first.reset();
  EXPECT_FALSE(eventually([&] { return is_gone(pid); }, watched));
  second.reset();
  EXPECT_TRUE(eventually([&] { return is_gone(pid); }));
  EXPECT_TRUE(eventually([&] { return !fs::exists(directory_ / "server.sock"); }));
}

TEST_P(SharedServer, CountsAKilledUserAsGone) {
  const auto user = another_user();
  const auto pid = std::stoi(user->heard());
  user->kill9();
  EXPECT_TRUE(eventually([&] { return is_gone(pid); }));
}

TEST_P(SharedServer, GoesOnWhenItsStarterIsKilled) {
  const auto starter = another_user();
  const auto pid = std::stoi(starter->heard());
  const auto server = join();
  command({"SET", "a", "b"});
  starter->kill9();
  EXPECT_FALSE(eventually([&] { return is_gone(pid); }, watched));
  EXPECT_EQ(command({"GET", "a"}).text, "b");
}

TEST_P(SharedServer, LingersForWhoComesBack) {
  const scoped_environment patient("HOLDFAST_EMBEDDED_LINGER", "60000");
  std::optional server(join());
  const auto pid = server_pid();
  server.reset();
  server.emplace(join());
  EXPECT_EQ(server_pid(), pid);
  ::kill(pid, SIGKILL);  // nobody waits a minute for the rest
}

TEST_P(SharedServer, StaysForWhoCameBackWhileItLingered) {
  std::optional server(join());
  server.reset();
  ::poll(nullptr, 0, 10);  // so that its supervisor has begun to linger
  server.emplace(join());
  const auto pid = server_pid();
  EXPECT_FALSE(eventually([&] { return is_gone(pid); }, watched));
}

TEST_P(SharedServer, IsStartedByWhoHoldsTheLockOnly) {
  ASSERT_EQ(::mkdir(directory_.c_str(), 0700), 0);
  auto lock = take_lock();
  const auto user = another_user();
  EXPECT_FALSE(eventually([&] { return fs::exists(directory_ / "server.sock"); }, watched));
  lock.reset();
  EXPECT_NE(user->heard(), "");
}

TEST_P(SharedServer, DoesNotEndWhileSomebodyJoins) {
  std::optional server(join());
  const auto pid = server_pid();
  auto lock = take_lock();
  server.reset();
  EXPECT_FALSE(eventually([&] { return is_gone(pid); }, watched));
  lock.reset();
  EXPECT_TRUE(eventually([&] { return is_gone(pid); }));
}

// However the joining falls into the ending, what is joined works.
TEST_P(SharedServer, CanBeJoinedWhileItEnds) {
  const scoped_environment hasty("HOLDFAST_EMBEDDED_LINGER", "0");
  std::set<pid_t> servers;
  for (int round = 0; round < 50; ++round) {
    {
      const auto server = join();
      servers.insert(server_pid());
    }
    ::poll(nullptr, 0, round % 5);
  }
  EXPECT_GT(servers.size(), 1U);
}

TEST_P(SharedServer, ComesBackAfterACrash) {
  const auto user = join();
  const auto pid = server_pid();
  ::kill(pid, SIGKILL);
  const auto next = join();
  EXPECT_NE(server_pid(), pid);
  EXPECT_EQ(command({"PING"}).text, "PONG");
}

TEST_P(SharedServer, IsRestartedForItsUsersWhenItHadRunForAWhile) {
  const auto user = join();
  const auto pid = server_pid();
  ASSERT_TRUE(eventually([&] { return number_in_info("uptime_in_seconds") >= 2; }));
  ::kill(pid, SIGKILL);
  ASSERT_TRUE(eventually([&] { return is_gone(pid) && answers_now(); }));
  EXPECT_NE(server_pid(), pid);
}

TEST_P(SharedServer, IsStartedAnewWhereACrashLeftItsSocket) {
  ASSERT_EQ(::mkdir(directory_.c_str(), 0700), 0);
  std::ofstream(directory_ / "lock").flush();  // that of the server which has crashed
  {
    net::descriptor stale(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = (directory_ / "server.sock").string();
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(stale.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ASSERT_FALSE(answers_now());
  const auto server = join();
  EXPECT_EQ(command({"PING"}).text, "PONG");
}

TEST_P(SharedServer, IsNotKeptByAForkedChild) {
  std::optional server(join());
  const auto pid = server_pid();
  forked child([](const forked::teller& parent) {
    parent.tell("running");
    parent.sleep_until_killed();
  });
  EXPECT_EQ(child.heard(), "running");
  server.reset();
  EXPECT_TRUE(eventually([&] { return is_gone(pid); }));
}

TEST_P(SharedServer, EndsWhenItsDirectoryWasRemoved) {
  std::optional server(join());
  const auto pid = server_pid();
  fs::remove_all(directory_);
  server.reset();
  EXPECT_TRUE(eventually([&] { return is_gone(pid); }));
}

std::string refusal(const fs::path& directory) {
  try {
    shared_embedded_server::join(directory);
  } catch (const failure& error) {
    return error.what();
  }
  return "";
}

TEST_P(SharedServer, RefusesADirectoryThatOthersCanEnter) {
  ASSERT_EQ(::mkdir(directory_.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(directory_.c_str(), 0750), 0);
  EXPECT_THAT(refusal(directory_), HasSubstr("other users; name a directory of its own, such as "));
}

// As a user that names their home directory.
TEST_P(SharedServer, RefusesADirectoryThatIsUsedForSomethingElse) {
  ASSERT_EQ(::mkdir(directory_.c_str(), 0700), 0);
  std::ofstream(directory_ / "letter") << "Dear";
  EXPECT_THAT(refusal(directory_), HasSubstr("; name a directory of its own, such as "));
  EXPECT_FALSE(fs::exists(directory_ / "lock"));
  fs::remove(directory_ / "letter");
  EXPECT_EQ(refusal(directory_), "");
  EXPECT_EQ(refusal(directory_), "") << "what the server has left is its own";
}

TEST_P(SharedServer, RefusesWhatIsNoDirectoryOfItsOwn) {
  EXPECT_THAT(refusal("/proc/self/status"), HasSubstr("is not a directory"));
  EXPECT_THAT(refusal(directory_ / "missing" / "deeper"), HasSubstr("cannot create the directory"));
  ASSERT_EQ(::mkdir(directory_.c_str(), 0700), 0);
  ASSERT_EQ(::symlink(directory_.c_str(), (base_.path() / "link").c_str()), 0);
  EXPECT_THAT(refusal(base_.path() / "link"), HasSubstr("is not a directory"));
  if (::geteuid() != 0) GTEST_SKIP() << "Only root can make a directory of another user's.";
  ASSERT_EQ(::chown(directory_.c_str(), 65534, 65534), 0);
  EXPECT_THAT(refusal(directory_), HasSubstr("belongs to another user"));
}

// Another user may own the directory above, and exchange ours at any moment (the supervisor opens
// its files a while after the directory was checked).
TEST_P(SharedServer, WritesToNothingThatAnotherUserPutsInItsPlace) {
  if (::geteuid() != 0) GTEST_SKIP() << "Only root can be another user.";
  fs::permissions(base_.path(), fs::perms(0711));
  const auto theirs = base_.path() / "theirs";
  fs::create_directory(theirs);
  ASSERT_EQ(::chown(theirs.c_str(), 65534, 65534), 0);
  const auto precious = base_.path() / "precious";
  std::ofstream(precious) << "precious";
  const auto named = theirs / "shared";
  forked attacker([&](const forked::teller& parent) {
    if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) return;
    const auto evil = theirs / "evil";
    fs::create_directory(evil);
    fs::create_symlink(precious, evil / "server.log");
    fs::permissions(evil, fs::perms::all);
    parent.tell("at it");
    for (;;) ::renameat2(AT_FDCWD, named.c_str(), AT_FDCWD, evil.c_str(), RENAME_EXCHANGE);
  });
  ASSERT_EQ(attacker.heard(), "at it");
  for (int i = 0; i < 50; ++i) (void)refusal(named);
  std::ifstream kept(precious);
  std::string text;
  std::getline(kept, text);
  EXPECT_EQ(text, "precious");
}

TEST_P(SharedServer, IsReachedAlsoWhereItsPathMeansSomethingElse) {
  const auto server = join();
  const auto pid = server_pid();
  fs::rename(directory_, base_.path() / "away");
  EXPECT_TRUE(answers(server.endpoint(), net::now() + support::generous));
  EXPECT_FALSE(answers(server.socket(), net::now() + milliseconds{100}));
  fs::rename(base_.path() / "away", directory_);
  EXPECT_EQ(server_pid(), pid);
}

TEST_P(SharedServer, RefusesALingerTimeThatIsNoNumber) {
  for (const char* wrong : {"soon", "-1", "5s", ""}) {
    const scoped_environment linger("HOLDFAST_EMBEDDED_LINGER", wrong);
    EXPECT_THAT(refusal(directory_), HasSubstr("HOLDFAST_EMBEDDED_LINGER")) << wrong;
  }
}

}  // namespace
}  // namespace holdfast::embedded
