// One lock that many want: how fast it goes round, and how fairly.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <latch>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <holdfast/client.hpp>

#include "net/clock.hpp"
#include "support/external.hpp"
#include "support/measure.hpp"
#include "support/peer_programs.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

using std::chrono::milliseconds;

constexpr int most = 64;                 // contenders
constexpr std::size_t buckets = 20'000;  // of a microsecond

// What contenders of all processes count. They all wait for `running`.
struct tally {
  std::array<std::atomic<std::uint64_t>, most> acquired{};
  std::array<std::atomic<std::uint64_t>, buckets> handed_over{};  // release to return
  std::atomic<std::uint64_t> by_another_thread{0}, by_another_process{0};
  std::atomic<std::int64_t> released_at{0}, longest_wait{0};
  std::atomic<int> last_thread{-1}, last_process{-1};
  std::atomic<bool> counting{false}, stop{false};
};

std::int64_t now_ns() { return net::now().time_since_epoch().count(); }

void contend(const lock& target, tally& all, int process, int me) {
  while (!all.stop) {
    const auto asked = now_ns();
    auto held = target.acquire();
    const auto got = now_ns();
    const bool counts = all.counting.load(std::memory_order_relaxed);
    const bool switched = all.last_thread.exchange(me) != me;
    if (all.last_process.exchange(process) != process && counts) ++all.by_another_process;
    if (counts) {
      ++all.acquired[static_cast<std::size_t>(me)];
      if (switched) {
        ++all.by_another_thread;
        const auto took =
            static_cast<std::size_t>(std::max<std::int64_t>(0, got - all.released_at));
        ++all.handed_over[std::min(took / 1000, buckets - 1)];
      }
      if (got - asked > all.longest_wait) all.longest_wait = got - asked;
    }
    all.released_at = now_ns();
    // ~lease releases
  }
}

struct outcome {
  double rate, switches, process_switches, jain, least_share, handover_p50, longest_wait;
};

outcome sum_up(const tally& all, int processes, int threads, double seconds) {
  const auto total_of = [&](int first, int count) {
    double sum = 0;
    for (int i = first; i < first + count; ++i) {
      sum += static_cast<double>(all.acquired[static_cast<std::size_t>(i)].load());
    }
    return sum;
  };
  const int contenders = processes * threads;
  const double total = total_of(0, contenders);
  double squares = 0, least = total;
  for (int i = 0; i < contenders; ++i) squares += total_of(i, 1) * total_of(i, 1);
  for (int p = 0; p < processes; ++p) least = std::min(least, total_of(p * threads, threads));
  std::uint64_t seen = 0, half = all.by_another_thread / 2;
  std::size_t p50 = 0;
  while (p50 < buckets - 1 && (seen += all.handed_over[p50]) < half) ++p50;
  return {total / seconds,
          static_cast<double>(all.by_another_thread) / seconds,
          static_cast<double>(all.by_another_process) / seconds,
          total * total / (contenders * squares),
          least / (total / processes),
          static_cast<double>(p50),
          static_cast<double>(all.longest_wait) / 1e6};
}

// Lets `processes` of `threads` each contend for a while. `around` is called before and after.
outcome run(const setting& with, int processes, int threads, const lock_options& options,
            const std::function<void()>& around) {
  void* const memory =
      ::mmap(nullptr, sizeof(tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& all = *new (memory) tally;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = ::fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    const client own(with.redis.url());
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) {
      running.emplace_back(
          [&, p, t] { contend(own.mutex("contended", options), all, p, p * threads + t); });
    }
    for (auto& one : running) one.join();
    ::_exit(0);
  }
  wait_for(milliseconds(500));
  around();
  all.counting = true;
  const auto begin = net::now();
  wait_for(with.quick ? milliseconds(1500) : milliseconds(5000));
  all.counting = false;
  const double seconds = std::chrono::duration<double>(net::now() - begin).count();
  around();
  all.stop = true;
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  const auto result = sum_up(all, processes, threads, seconds);
  ::munmap(memory, sizeof(tally));
  return result;
}

// Microseconds of a PING over a blocking socket that does not spin, with the server on another
// core: left alone, the two share one and never wake a processor, which no hand-over between
// processes that are all at work can do.
double ping_p50(const setting& with) {
  with.redis.place(placement::two_cores);
  raw_client socket(with.redis.port(), microseconds{0});
  std::vector<double> took;
  for (int i = 0; i < 3000; ++i) {
    const auto before = net::now();
    socket.command("*1\r\n$4\r\nPING\r\n");
    took.push_back(std::chrono::duration<double, std::micro>(net::now() - before).count());
  }
  with.redis.place(placement::free);
  return median(std::move(took));
}

// How often a second a lock goes from one process to another, by turns with the library that was
// the best at it of those that starve nobody.
void switches_beside_a_peer(const setting& with) {
  const std::string name = "contention.fair_switches_vs_rslock";
  std::vector<double> ours, theirs, jain;
  try {
    const auto peer = rslock_peer();
    const auto port = std::to_string(with.redis.port());
    for (int turn = 0; turn < (with.quick ? 1 : 5); ++turn) {
      double switches = 0, index = 0;
      std::istringstream(output_of({peer, port, "4", "4", "2000"})) >> switches >> index;
      theirs.push_back(switches);
      jain.push_back(index);
      ours.push_back(run(with, 4, 4, {.fair = true}, [] {}).process_switches);
    }
  } catch (const std::exception& error) {
    return with.results.skip(name, error.what());
  }
  auto& results = with.results;
  const double rate = median(std::move(ours)), peers_rate = median(std::move(theirs));
  results.at_least(name, rate / peers_rate, "x", 4);
  results.tell("contention.fair_switches", rate, "/s");
  results.tell("contention.rslock_switches", peers_rate, "/s");
  results.tell("contention.rslock_jain", median(std::move(jain)), "index");
}

// How often clients have called these commands, the server says.
double called(const setting& with, const std::vector<std::string>& commands) {
  double sum = 0;
  for (const auto& one : commands) sum += calls_of(with.redis.port(), one);
  return sum;
}

}  // namespace

void contention(const setting& with) {
  auto& results = with.results;
  const auto nothing = [] {};
  const auto one = run(with, 1, 16, {}, nothing);
  results.at_least("contention.one_process_rate", one.rate, "acquisitions/s", 500'000);
  results.at_least("contention.one_process_switches", one.switches, "/s", 10'000);
  results.at_least("contention.one_process_jain", one.jain, "index", 0.95);
  results.at_most("contention.one_process_longest_wait", one.longest_wait, "ms", 50);

  const double ping = ping_p50(with);
  std::vector<double> calls;
  const auto fair =
      run(with, 4, 4, {.fair = true}, [&] { calls.push_back(called(with, {"evalsha"})); });
  results.at_most("contention.fair_handover_vs_ping", fair.handover_p50 / ping, "x", 0.8);
  results.at_least("contention.fair_jain", fair.jain, "index", 0.99);
  switches_beside_a_peer(with);
  results.tell("contention.fair_handover_p50", fair.handover_p50, "us");
  results.tell("contention.ping_p50", ping, "us");
  results.tell("contention.fair_longest_wait", fair.longest_wait, "ms");
  results.tell("contention.fair_rate", fair.rate, "acquisitions/s");
  const double seconds = with.quick ? 1.5 : 5;
  results.at_most("contention.fair_commands_per_acquisition",
                  (calls[1] - calls[0]) / (fair.rate * seconds), "commands", 2.02);

  const auto usual = run(with, 4, 4, {}, nothing);
  results.at_least("contention.processes_rate", usual.rate, "acquisitions/s", 100'000);
  results.at_least("contention.processes_least_share", usual.least_share, "share", 0.5);
  results.tell("contention.processes_longest_wait", usual.longest_wait, "ms");
}

// 200 clients that wait for one lock, and then get it one after the other.
void waiters200(const setting& with) {
  constexpr int count = 200;
  auto& results = with.results;
  const double ping = ping_p50(with);
  const client holder(with.redis.url());
  const auto held_lock = holder.mutex("waited for");
  auto held = std::make_optional(held_lock.acquire());
  std::vector<client> clients;
  for (int i = 0; i < count; ++i) clients.emplace_back(with.redis.url());
  std::atomic<std::int64_t> released{0}, last_return{0};
  std::vector<double> handed;  // of who has the lock
  std::latch all_served(count);
  std::vector<std::thread> waiting;
  handed.reserve(count);
  for (int i = 0; i < count; ++i) {
    waiting.emplace_back([&, i] {
      {
        auto mine = clients[static_cast<std::size_t>(i)].mutex("waited for").acquire();
        const auto at = now_ns();
        handed.push_back(static_cast<double>(at - released) / 1000);
        last_return = at;
        released = now_ns();
      }
      all_served.arrive_and_wait();  // to end a thread costs more than to hand over
    });
  }
  raw_client look(with.redis.port(), microseconds{0});
  while (look.command("*2\r\n$5\r\nZCARD\r\n$17\r\nhf:{waited for}:w\r\n").number < count) {
    wait_for(milliseconds(10));
  }
  // What scripts call is counted by the server, too; of what clients send, these are all.
  const auto sent = [&] { return called(with, {"evalsha", "eval", "ping"}); };
  const auto before = sent();
  const int seconds = with.quick ? 6 : 30;
  wait_for(std::chrono::seconds(seconds));
  results.at_most("waiters200.commands_while_held", (sent() - before) / seconds, "/s", 20);
  const auto begin = now_ns();
  released = begin;
  held.reset();
  for (auto& one : waiting) one.join();
  results.at_most("waiters200.all_served", static_cast<double>(last_return - begin) / 1e6, "ms",
                  20);
  results.at_most("waiters200.handover_vs_ping", median(std::move(handed)) / ping, "x", 1.5);
}

void retained(const setting& with) {
  auto& results = with.results;
  const client own(with.redis.url()), other(with.redis.url());
  const auto kept = own.mutex("kept", {.retain = std::chrono::seconds(10)});
  std::vector<double> pair;
  for (int round = 0; round < 200; ++round) {
    (void)kept.acquire();
    const auto begin = now_ns();
    for (int i = 0; i < 1000; ++i) (void)kept.acquire();
    pair.push_back(static_cast<double>(now_ns() - begin) / 1000);
  }
  results.at_most("retained.pair", median(std::move(pair)), "ns", 200);
  const double ping = ping_p50(with);
  std::vector<double> foreign;
  for (int i = 0; i < 50; ++i) {
    (void)kept.acquire();
    const auto begin = now_ns();
    auto got = other.mutex("kept").acquire();
    foreign.push_back(static_cast<double>(now_ns() - begin) / 1000);
    got.release().value();
  }
  // Its own question takes a trip too.
  results.at_most("retained.foreign_waiter_vs_ping", median(std::move(foreign)) / ping, "x", 3);
}

}  // namespace holdfast::bench
