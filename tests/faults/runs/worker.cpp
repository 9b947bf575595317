#include "faults/runs/worker.hpp"

#include <poll.h>

#include <atomic>
#include <functional>
#include <random>
#include <stdexcept>
#include <thread>

namespace holdfast::faults {

namespace {

using history::event;
using history::kind;
using history::nanoseconds;

constexpr int threads = 3;

void pause(milliseconds time) { ::poll(nullptr, 0, int(time.count())); }

std::vector<access> by_mutex(const client& redis, const contested& what) {
  return {{redis.mutex(what.name, what.options)}};
}

// Three readers for each writer.
std::vector<access> by_readers(const client& redis, const contested& what) {
  constexpr std::uint32_t all = 1000;  // more than there are threads
  const auto both = redis.rw(what.name, what.options);
  const access reader{both.shared(), 1, all};
  return {reader, reader, reader, {both.exclusive(), all, all}};
}

std::vector<access> by_permits(const client& redis, const contested& what) {
  constexpr std::uint32_t all = 3;
  const auto permits = redis.semaphore(what.name, {.permits = all, .lease = what.options.lease});
  return {{permits, 1, all}, {permits.permits(2), 2, all}, {permits.permits(3), 3, all}};
}

// One thread of a worker.
class contender {
 public:
  contender(const assignment& what, const client& redis, recorder& log, std::uint64_t seed)
      : until_(what.until), resource_(what.resources, what.mode), log_(log), random_(seed) {
    for (const auto& one : contests()) locks_.push_back(one.ways(redis, one));
  }

  void run() {
    while (time_now() < until_) {
      take(any(locks_.size()), any(4) == 0 ? milliseconds(100) : milliseconds(5000));
      pause(milliseconds(any(4)));
    }
    for (std::size_t i = 0; i < locks_.size(); ++i) take(i, milliseconds(20'000));
  }

 private:
  std::size_t any(std::size_t below) { return random_() % below; }

  void take(std::size_t which, milliseconds timeout) {
    const auto& options = contests()[which].options;
    const auto& way = locks_[which][any(locks_[which].size())];
    turn_ = {.operation = log_.next_operation(), .lock = contests()[which].name};
    tell(kind::called, [&](event& one) {
      one.until = one.time + timeout;
      one.lease = *options.lease;
      one.part = way.part;
      one.whole = way.whole;
      one.note = options.fair ? "fair" : "";
    });
    auto got = way.target.try_acquire({.timeout = timeout});
    if (got) return hold(*std::move(got), way.part == way.whole);
    const bool unclear = got.error().reason() == errc::unavailable;
    tell(unclear ? kind::unclear : kind::failed,
         [&](event& one) { one.note = got.error().what(); });
  }

  void hold(lease got, bool has_all) {
    turn_.token = got.token().value();
    tell(kind::won, [&](event& one) { one.until = one.time + got.remaining(); });
    {
      std::atomic<bool> told{false};
      const auto turn = turn_;
      const std::stop_callback on_loss(got.lost(), [&] {
        auto lost = turn;
        lost.what = kind::lost;
        log_.record(lost);
        told = true;
      });
      if (has_all) {
        change(got);
      } else {
        read_twice(got);
      }
      if (!look(got)) wait_for(told);
    }
    tell(kind::releasing, [](event& one) { one.until = one.time + patience; });
    const auto released = got.release();
    tell(kind::released, [&](event& one) { one.note = released ? "" : released.error().what(); });
  }

  // Adds one to what the lock protects. It does not look whether it still has the lock: that is
  // what the tokens are for.
  void change(lease& got) {
    const auto number = resource_.read(turn_.lock, turn_.token);
    if (!number) return;
    take_time();
    look(got);
    auto writer = turn_;
    writer.time = time_now();
    writer.process = ::getpid();
    resource_.write(writer, *number + 1);
  }

  // Nobody changes it meanwhile.
  void read_twice(const lease& got) {
    for (int i = 0; i < 2; ++i) {
      const auto number = resource_.read(turn_.lock, turn_.token);
      if (!number) return;
      tell(kind::saw, [&](event& one) { one.value = *number; });
      if (i == 0) take_time();
      look(got);
    }
  }

  void take_time() { pause(any(20) == 0 ? milliseconds(any(400)) : milliseconds(any(4))); }

  bool look(const lease& got) {
    const auto before = time_now();
    const auto remaining = got.remaining();
    const bool held = remaining > milliseconds(0) || got.held();
    tell(held ? kind::held : kind::ended, [&](event& one) {
      one.time = before;
      if (held) one.until = before + remaining;
    });
    return held;
  }

  // Counts rather than looks at a clock: the process may be frozen meanwhile.
  static void wait_for(const std::atomic<bool>& told) {
    for (int i = 0; i < 200 && !told; ++i) pause(milliseconds(5));
  }

  void tell(kind what, const std::function<void(event&)>& details) {
    auto one = turn_;
    one.time = time_now();
    one.what = what;
    details(one);
    log_.record(one);
  }

  nanoseconds until_;
  std::vector<std::vector<access>> locks_;  // of each of contests()
  resource resource_;
  recorder& log_;
  std::mt19937_64 random_;
  event turn_;  // what all events of the present acquisition have
};

}  // namespace

const std::vector<contested>& contests() {
  static const std::vector<contested> all{
      {"usual", {.lease = milliseconds(500)}, by_mutex},
      {"fair", {.lease = milliseconds(400), .fair = true}, by_mutex},
      {"kept", {.lease = milliseconds(500), .retain = milliseconds(400)}, by_mutex},
      {"fixed", {.lease = milliseconds(300), .renewal = renewal::none}, by_mutex},
      {"shared", {.lease = milliseconds(400)}, by_readers},
      {"permits", {.lease = milliseconds(400)}, by_permits},
  };
  return all;
}

milliseconds longest_lease() {
  milliseconds longest{};
  for (const auto& one : contests()) longest = std::max(longest, *one.options.lease);
  return longest;
}

std::vector<std::string> assignment::to_arguments() const {
  return {"worker",
          server,
          resources,
          directory,
          std::to_string(seed),
          std::to_string(until.count()),
          mode == tokens::checked ? "checked" : "ignored"};
}

assignment assignment::from_arguments(const std::vector<std::string>& arguments) {
  if (arguments.size() != 7) throw std::invalid_argument("a worker needs six arguments");
  return {arguments[1],
          arguments[2],
          arguments[3],
          std::stoull(arguments[4]),
          nanoseconds(std::stoll(arguments[5])),
          arguments[6] == "checked" ? tokens::checked : tokens::ignored};
}

void work(const assignment& what) {
  const client redis(what.server,
                     {.connect_timeout = patience, .response_timeout = patience, .name = "faults"});
  recorder log(what.directory);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back(
        [&, i] { contender(what, redis, log, what.seed * threads + std::uint64_t(i)).run(); });
  }
  for (auto& one : running) one.join();
}

}  // namespace holdfast::faults
