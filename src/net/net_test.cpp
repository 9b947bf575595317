#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "net/background_thread.hpp"
#include "net/clock.hpp"
#include "net/closing.hpp"
#include "net/descriptor.hpp"
#include "net/quiet_thread.hpp"
#include "net/resolve.hpp"
#include "net/socket.hpp"

namespace holdfast::net {
namespace {

using ::testing::HasSubstr;

connect_limits within(milliseconds time) { return {now() + time, milliseconds{1000}, nullptr}; }

// From now on this process, a child, can start none: each would want a stack that nobody has.
void leave_no_thread() {
  ::pthread_attr_t greedy;
  ::pthread_attr_init(&greedy);
  ::pthread_attr_setstacksize(&greedy, std::size_t{1} << 60);
  ::pthread_setattr_default_np(&greedy);
}

// Runs `check` in a forked child and tells whether it returned true there.
template <typename Check>
bool holds_in_child(const Check& check) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(check() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ClockCorrection, IsWhatTheKernelDoesToTheClock) {
  timex said{};
  said.tick = 10'000;
  EXPECT_EQ(correction_of(said), 0);
  said.freq = -37 * 65'536;
  EXPECT_EQ(correction_of(said), -37);
  said.tick = 10'833;  // chrony, for large offsets
  EXPECT_EQ(correction_of(said), 83'300 - 37);
  said.tick = 9'167;
  EXPECT_EQ(correction_of(said), -83'300 - 37);

  timex works_off{};  // systemd-timesyncd: the kernel is told an offset
  works_off.tick = 10'000;
  works_off.status = STA_PLL;
  works_off.constant = 5;
  works_off.offset = 400'000;
  EXPECT_EQ(correction_of(works_off), 3125);
  works_off.status |= STA_NANO;
  works_off.offset *= -1000;
  EXPECT_EQ(correction_of(works_off), -3125);
  works_off.status &= ~STA_PLL;
  EXPECT_EQ(correction_of(works_off), 0);

  EXPECT_EQ(correction_of(timex{}), 0) << "a system that does not fill it in";
  EXPECT_LT(std::abs(clock_correction()), 200'000);
}

TEST(Descriptor, IsClosedInAForkedChildOnly) {
  descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = file.get();
  ASSERT_GE(number, 0);
  EXPECT_TRUE(holds_in_child([&] { return !file && ::fcntl(number, F_GETFD) == -1; }));
  EXPECT_EQ(file.get(), number);
  EXPECT_NE(::fcntl(number, F_GETFD), -1);
}

TEST(Descriptor, KnowsTheProcessThatForked) {
  const auto ours = process_generation();
  EXPECT_TRUE(holds_in_child([&] { return process_generation() != ours; }));
  EXPECT_EQ(process_generation(), ours);
}

TEST(ClosingDeathTest, IsAwaitedWhenTheProcessEnds) {
  const auto ends_at_once = [] {
    close_aside([] {
      ::poll(nullptr, 0, 50);
      std::fputs("closed", stderr);
    });
    std::exit(0);
  };
  EXPECT_EXIT(ends_at_once(), ::testing::ExitedWithCode(0), "closed");
}

TEST(ClosingDeathTest, IsDoneAtTheEndWhereThereIsNoThreadForIt) {
  const auto has_no_thread = [] {
    leave_no_thread();
    close_aside([] { std::fputs("closed", stderr); });
    std::fputs("later ", stderr);
    std::exit(0);
  };
  EXPECT_EXIT(has_no_thread(), ::testing::ExitedWithCode(0), "later closed");
}

TEST(Clock, NeverGoesBack) {
  const auto first = now();
  EXPECT_GE(now(), first);
}

// Binds a new socket to a free port, and tells which.
tcp_endpoint bound(descriptor& into) {
  into.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(into.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  socklen_t size = sizeof address;
  ::getsockname(into.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return {"127.0.0.1", ntohs(address.sin_port)};
}

TEST(Socket, SaysThatNobodyListens) {
  // A port that was free a moment ago: bound by us, but not listening.
  descriptor taken, socket;
  const auto where = bound(taken);
  EXPECT_THAT(connect(where, within(milliseconds{5000}), socket), HasSubstr("refused"));
  EXPECT_FALSE(socket);
}

// A connection to ourselves.
struct connected {
  connected() {
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(connect(where, within(milliseconds{5000}), socket), "");
    peer.reset(::accept(listener.get(), nullptr, nullptr));
  }
  descriptor listener, socket, peer;
  const tcp_endpoint where = bound(listener);
};

TEST(Socket, NoticesAPeerThatVanishes) {
  const connected both;
  const auto option = [&](int level, int name) {
    int value = 0;
    socklen_t length = sizeof value;
    EXPECT_EQ(::getsockopt(both.socket.get(), level, name, &value, &length), 0);
    return value;
  };
  EXPECT_EQ(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 1000);
  EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
}

// Runs `act` on the first core that we may use, or the second. False: there is none.
template <typename Act>
bool on_core(std::size_t which, const Act& act) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  int core = -1;
  for (std::size_t seen = 0; seen <= which; ++seen) {
    do {
      if (++core == CPU_SETSIZE) return false;
    } while (!CPU_ISSET(core, &allowed));
  }
  std::thread([&] {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(core, &only);
    EXPECT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
    act();
  }).join();
  return true;
}

TEST(Socket, TellsWhetherThePeerHasOurCore) {
  connected both;
  auto &socket = both.socket, &peer = both.peer;
  ASSERT_TRUE(on_core(0, [&] {
    EXPECT_EQ(::send(peer.get(), "a", 1, 0), 1);
    EXPECT_TRUE(comes_from_this_core(socket));
  }));
  const auto on_another = [&] { EXPECT_FALSE(comes_from_this_core(socket)); };
  if (!on_core(1, on_another)) GTEST_SKIP() << "half of it: there is only one core";
}

TEST(Socket, KnowsOfNoCoreWhereThereIsNoConnection) {
  EXPECT_FALSE(comes_from_this_core(descriptor{}));
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const descriptor one(ends[0]), other(ends[1]);
  EXPECT_EQ(::send(other.get(), "a", 1, 0), 1);
  EXPECT_FALSE(comes_from_this_core(one));
}

TEST(Socket, BlocksForAMomentOnly) {
  connected both;
  auto &socket = both.socket, &peer = both.peer;
  block_at_most(socket, milliseconds{20});
  char byte = 0;
  const auto before = now();
  EXPECT_EQ(::recv(socket.get(), &byte, 1, 0), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_GE(now() - before, milliseconds{19});
  EXPECT_EQ(::recv(socket.get(), &byte, 1, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(::send(peer.get(), "a", 1, 0), 1);
  EXPECT_EQ(::recv(socket.get(), &byte, 1, 0), 1);
}

TEST(Socket, IsClosedHardSoThatNothingMoreArrives) {
  connected both;
  auto &socket = both.socket, &peer = both.peer;
  close_hard(socket);
  EXPECT_FALSE(socket);
  char byte = 0;
  EXPECT_EQ(::recv(peer.get(), &byte, 1, 0), -1) << "the ordinary end of a stream";
  EXPECT_EQ(errno, ECONNRESET);
}

TEST(Socket, SaysThatTheHostIsUnknown) {
  descriptor socket;
  const auto problem =
      connect(tcp_endpoint{"no-such-host.invalid", 6379}, within(milliseconds{5000}), socket);
  EXPECT_THAT(problem, HasSubstr("no-such-host.invalid"));
}

TEST(Socket, SaysThatNoDescriptorIsLeftToLookUpAHost) {
#ifdef HOLDFAST_SANITIZED_address
  GTEST_SKIP() << "a sanitizer looks at memory through a pipe, which needs descriptors";
#endif
  EXPECT_TRUE(holds_in_child([] {
    const ::rlimit none{0, 0};
    ::setrlimit(RLIMIT_NOFILE, &none);
    descriptor socket;
    const auto problem =
        connect(tcp_endpoint{"localhost", 6379}, within(milliseconds{5000}), socket);
    return problem.find("Too many open files") != std::string::npos;
  }));
}

TEST(QuietThread, LeavesSignalsAsTheyWereWhenThereIsNone) {
  EXPECT_TRUE(holds_in_child([] {
    leave_no_thread();
    try {
      quiet_thread("test", [] {}).join();
      return false;
    } catch (const std::system_error&) {
      sigset_t blocked;
      ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      return sigismember(&blocked, SIGINT) == 0;
    }
  }));
}

// The first address listens and never answers, since its queue of callers is full.
TEST(Socket, LeavesTimeForTheNextAddress) {
  connected both;
  descriptor deaf, socket;
  const auto silent = bound(deaf);
  EXPECT_EQ(::listen(deaf.get(), 0), 0);
  descriptor callers[8];
  for (auto& one : callers) {
    if (!connect(silent, within(milliseconds{100}), one).empty()) break;
  }
  const connect_limits none{now(), {}, nullptr};
  auto first = resolve(silent, none), second = resolve(both.where, none);
  ASSERT_TRUE(first.addresses && second.addresses);
  first.addresses->ai_next = second.addresses.get();
  EXPECT_EQ(connect_to_first(first.addresses.get(), within(milliseconds{1000}), socket), 0);
  first.addresses->ai_next = nullptr;
}

TEST(Socket, SaysThatThePathIsTooLong) {
  descriptor socket;
  const auto problem =
      connect(unix_endpoint{"/" + std::string(200, 'x')}, within(milliseconds{100}), socket);
  EXPECT_THAT(problem, HasSubstr("longer than the system allows"));
}

TEST(Socket, SaysThatTheSocketIsNotThere) {
  descriptor socket;
  const auto problem = connect(unix_endpoint{"/no/such.sock"}, within(milliseconds{100}), socket);
  EXPECT_THAT(problem, HasSubstr("No such file"));
}

// A unix socket refuses at once when its backlog is full.
TEST(Socket, GivesUpConnectingToACrowdedSocketWhenCancelled) {
  const unix_endpoint where{::testing::TempDir() + "crowded." + std::to_string(::getpid())};
  const descriptor crowded(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ::sockaddr_un address{};
  address.sun_family = AF_UNIX;
  where.path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(crowded.get(), reinterpret_cast<const ::sockaddr*>(&address), sizeof address),
            0);
  ASSERT_EQ(::listen(crowded.get(), 0), 0);
  wake_up cancel;
  cancel.signal();
  const connect_limits limits{now() + std::chrono::seconds{20}, {}, &cancel};
  descriptor callers[8];
  std::string problem;
  for (auto& one : callers) problem += connect(where, limits, one);
  EXPECT_THAT(problem, HasSubstr("temporarily unavailable"));
  EXPECT_LT(now(), limits.deadline);
  std::filesystem::remove(where.path);
}

TEST(Socket, GivesUpConnectingWhenCancelled) {
  wake_up cancel;
  cancel.signal();
  EXPECT_FALSE(wait_ready(-1, 0, {now() + std::chrono::hours{1}, {}, &cancel}));
}

TEST(Socket, GivesUpWaitingAtTheDeadline) {
  const auto before = now();
  EXPECT_FALSE(wait_ready(-1, 0, {before + milliseconds{20}, {}, nullptr}));
  EXPECT_GE(now() - before, milliseconds{20});
}

// Counts how often it is attended, and wants it at a given time.
class counter final : public attendant {
 public:
  interest wants(monotonic_time) override {
    asked.fetch_add(1);
    asked.notify_all();
    return {-1, 0, at.load()};
  }
  void attend(short, monotonic_time) override {
    at.store(monotonic_time::max());
    asked.store(0);
    attended.fetch_add(1);
    attended.notify_all();
  }
  std::atomic<monotonic_time> at{monotonic_time::max()};
  std::atomic<int> attended{0};
  std::atomic<int> asked{0};  // since it was attended
};

// Returns when the thread wants nothing any more, and is asleep or about to be.
void put_to_sleep(background_thread& thread, counter& only) {
  const int before = only.attended;
  only.at = now();
  thread.wake();
  only.attended.wait(before);
  only.asked.wait(0);
}

TEST(BackgroundThread, AttendsWhoComesLaterToo) {
  counter first;
  counter second;
  background_thread thread;
  thread.start({&first});
  second.at = now();
  thread.add(second);
  second.attended.wait(0);
  EXPECT_EQ(first.attended, 0);
}

TEST(BackgroundThread, AttendsWhenTheTimeHasCome) {
  counter c;
  c.at = now() + milliseconds{20};
  const auto before = now();
  background_thread thread;
  thread.start({&c});
  c.attended.wait(0);
  EXPECT_GE(now() - before, milliseconds{15});
}

TEST(BackgroundThread, LooksAgainWhenWoken) {
  counter c;
  background_thread thread;
  thread.start({&c});
  for (int i = 0; i < 1000; ++i) {
    const int seen = c.attended.load();
    c.at = now();
    thread.wake();
    c.attended.wait(seen);  // would never return if a wake-up could be missed
  }
  EXPECT_GE(c.attended.load(), 1000);
}

TEST(BackgroundThread, AttendsAtTheTimeOfAnAlarm) {
  counter c;
  background_thread thread;
  thread.start({&c});
  for (int i = 0; i < 200; ++i) {
    const int seen = c.attended.load();
    const auto at = now() + microseconds{100 * (i % 5)};
    c.at = at;
    thread.wake_at(at);
    c.attended.wait(seen);  // would never return if an alarm could be missed
    EXPECT_GE(now(), at);
  }
}

TEST(BackgroundThread, KeepsTheEarliestAlarm) {
  counter c;
  background_thread thread;
  thread.start({&c});
  put_to_sleep(thread, c);
  const auto at = now() + milliseconds{20};
  c.at = at;
  thread.wake_at(at + std::chrono::hours{1});
  thread.wake_at(at);
  thread.wake_at(at + std::chrono::hours{2});
  c.attended.wait(1);
  EXPECT_GE(now(), at);
}

TEST(BackgroundThread, IsNotTroubledBeforeAnAlarm) {
  counter c;
  background_thread thread;
  thread.start({&c});
  put_to_sleep(thread, c);
  for (int i = 0; i < 1000; ++i) thread.wake_at(now() + std::chrono::hours{1 + i % 2});
  EXPECT_LT(c.asked, 3);  // before, and perhaps again
}

// Whether a timer of ours, which counts also while the machine is suspended, is set.
bool is_a_timer_set() {
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(one.path());
    const std::string said{std::istreambuf_iterator<char>(file), {}};
    const bool is_one = said.find("clockid: 7") != std::string::npos;
    if (is_one && said.find("it_value: (0, 0)") == std::string::npos) return true;
  }
  return false;
}

TEST(BackgroundThread, SleepsLongByAnAlarmOnly) {
  counter only;
  background_thread thread;
  thread.start({&only});
  put_to_sleep(thread, only);
  EXPECT_FALSE(is_a_timer_set());
  only.at = now() + std::chrono::hours{1};
  thread.wake();
  const auto end = now() + milliseconds{20'000};
  while (!is_a_timer_set() && now() < end) ::poll(nullptr, 0, 1);
  EXPECT_TRUE(is_a_timer_set());
}

TEST(BackgroundThread, StopsWhileAsleep) {
  counter c;
  background_thread thread;
  thread.start({&c});
  thread.stop();
  EXPECT_EQ(c.attended.load(), 0);
}

}  // namespace
}  // namespace holdfast::net
